# SPDX-License-Identifier: GPL-2.0
"""In the place of the package expecttest, which Debian 12 does not have: what PyTorch's tests of torch.distributed use of it."""

import unittest

ACCEPT = False


class TestCase(unittest.TestCase):
    """Compares texts with those that a test expects."""

    def assertExpectedInline(self, actual: str, expect: str, skip: int = 0) -> None:
        self.assertEqual(actual.strip(), expect.strip())
