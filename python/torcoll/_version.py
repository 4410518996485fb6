# SPDX-License-Identifier: MIT
"""The version of the package, that of the library beside which it was written."""

__version__ = "0.2.0"
