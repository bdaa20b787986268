"""`python -m lci_py` is `lci`."""

import sys

from lci_py.cli import main

sys.exit(main())
