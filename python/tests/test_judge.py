"""A user's own study from start to verdict: a script that reports, claims in the study's file, judge()."""

import os
import subprocess
import sys
import unittest

from support import ROOT, FolderTest

import collapse

STUDY = """
[study]
name = "mine"
seeds = 5
[trainer]
command = ["%s", "train.py"]
epochs = 2
[grid]
method = ["plain", "better"]
[[claim]]
id = "better"
says = "the better method ends with the higher score"
kind = "more"
left = 'final("val/score", {"method": "better"})'
right = 'final("val/score", {"method": "plain"})'
early = true
"""

SCRIPT = """
import collapse, random
run = collapse.run()
draw = random.Random(run.setting("seed", 0))
for epoch in run.epochs(2):
    run.report(epoch, {"val/score": draw.random() / 9 + (run.setting("method", "plain") == "better")})
run.done()
"""


class JudgeTest(FolderTest):
    def test_a_study_of_ones_own(self):
        os.makedirs(self.folder)
        for name, text in (("study.toml", STUDY % sys.executable), ("train.py", SCRIPT)):
            with open(os.path.join(self.folder, name), "w") as f:
                f.write(text)
        lab, file = os.path.join(self.folder, "lab"), os.path.join(self.folder, "study.toml")
        subprocess.run([collapse.find_binary(), "--lab", lab, "study", "run", file], env={**os.environ, "PYTHONPATH": ROOT}, check=True, capture_output=True)
        for study in ("mine", file):
            found = collapse.judge(study, lab=lab)
            self.assertEqual((found["study"], found["runs"], found["of"]), ("mine", 10, 10))
            claim, = found["claims"]
            self.assertEqual((claim["id"], claim["verdict"], claim["source"]), ("better", "holds", "ours"))
            self.assertAlmostEqual(claim["effect"]["cells"][0]["value"], 1)
        with self.assertRaisesRegex(collapse.MeasureError, "no study|not found|other"):
            collapse.judge("other", lab=lab)


if __name__ == "__main__":
    unittest.main()
