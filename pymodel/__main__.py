"""`python -m pymodel`."""

import sys

from pymodel.cli import main

sys.exit(main())
