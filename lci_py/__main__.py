"""The start of the program, both as the command `lci` and as `python -m lci_py`."""

import os
import sys

# `python -m` puts the current folder first on the path: a clone that has a json.py must not get to run it. This line
# comes too late for what `python -m` itself imports before (functools, for one), and a clone that has an lci_py is run
# instead of us: in a folder that is not trusted, only the script `lci` and `python -I -m lci_py` are safe.
if sys.path and sys.path[0] in ("", os.getcwd()) and not os.path.isdir(os.path.join(sys.path[0], "lci_py")):
    del sys.path[0]

from lci_py import interrupts

interrupts.install()  # before the other imports, in which Ctrl-C would print a traceback


def run() -> None:
    """Run the command line, and end the process."""
    from lci_py.cli.main import run as run_main

    run_main()


if __name__ == "__main__":
    run()
