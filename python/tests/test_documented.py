"""The reference library's documented example beside ours: docs/python.md shows what compare/documented.py runs."""

import json
import os
import subprocess
import sys
import unittest

from support import ROOT, needs_torch

from test_arrays import needs_program

REPOSITORY = os.path.dirname(ROOT)
SCRIPT = os.path.join(REPOSITORY, "compare", "documented.py")


@needs_program
@needs_torch
class DocumentedTest(unittest.TestCase):
    def test_same_numbers(self):
        done = subprocess.run([sys.executable, "-W", "ignore", SCRIPT, "--per-class", "60", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-2000:])
        answer = json.loads(done.stdout)
        self.assertEqual([row["library"] for row in answer["rows"] if not row["same"]], [])
        self.assertEqual(len(answer["rows"]), 11)
        with open(os.path.join(REPOSITORY, "docs", "python.md"), encoding="utf-8") as f:
            page = f.read()
        sys.path.insert(0, os.path.dirname(SCRIPT))
        import documented
        self.assertIn(documented.OURS, page)
        self.assertIn("%d lines" % answer["lines"]["ours"], page)
        for row in answer["rows"]:
            self.assertIn("| `%s` |" % row["library"], page)


if __name__ == "__main__":
    unittest.main()
