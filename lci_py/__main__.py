"""`python -m lci_py` is `lci`."""

from lci_py.cli import run

if __name__ == "__main__":
    run()
