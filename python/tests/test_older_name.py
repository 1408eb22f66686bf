"""Scripts that import the package by its older name get the same package."""

import unittest

import support  # noqa: F401  puts the package's folder on the path


class OlderName(unittest.TestCase):
    def test_is_the_same_package(self):
        import collapse
        import collapse_tap
        self.assertIs(collapse_tap, collapse)
        self.assertIs(collapse_tap.Tap, collapse.Tap)


if __name__ == "__main__":
    unittest.main()
