"""Scripts of compare that the docs name, at small size; docs/internal/reference-library.md shows what compare/documented.py runs."""

import json
import os
import subprocess
import sys
import unittest

from support import ROOT, needs_torch

from test_arrays import needs_program

REPOSITORY = os.path.dirname(ROOT)
COMPARE = os.path.join(REPOSITORY, "compare")


@needs_program
@needs_torch
class CompareTest(unittest.TestCase):
    def answer(self, script, *arguments):
        done = subprocess.run([sys.executable, "-W", "ignore", os.path.join(COMPARE, script), "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-2000:])
        return json.loads(done.stdout)

    def test_the_librarys_example(self):
        answer = self.answer("documented.py", "--per-class", "60")
        self.assertEqual([row["library"] for row in answer["rows"] if not row["same"]], [])
        self.assertEqual(len(answer["rows"]), 11)
        with open(os.path.join(REPOSITORY, "docs", "internal", "reference-library.md"), encoding="utf-8") as f:
            page = f.read()
        sys.path.insert(0, COMPARE)
        import documented
        self.assertIn(documented.OURS, page)
        self.assertIn("%d lines" % answer["lines"]["ours"], page)
        for row in answer["rows"]:
            self.assertIn("| `%s` |" % row["library"], page)

    def test_states_in_chunks(self):
        answer = self.answer("states_million.py", "--n", "3000", "--d", "16", "--k", "200", "--chunk", "700")
        self.assertAlmostEqual(answer["measures"]["nc1_trace_ratio"], .09, delta=.02)
        self.assertLess(answer["peak_gb"]["python"], 2)


if __name__ == "__main__":
    unittest.main()
