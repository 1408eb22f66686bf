"""The older name of the package `collapse`, kept for scripts that import it."""

import sys

import collapse

sys.modules[__name__] = collapse
