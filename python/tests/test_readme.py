"""What README shows does what it says: the example in Python and the network of the film collapse."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, needs_torch

import collapse
from test_arrays import needs_program

PROJECT = os.path.dirname(ROOT)


def text(*path):
    with open(os.path.join(PROJECT, *path), encoding="utf-8") as f:
        return f.read()


def readme():
    return text("README.md")


@needs_program
class ReadmeTest(unittest.TestCase):
    @needs_torch
    def test_python(self):
        example, = re.findall(r"```python\n(.*?)```\n", readme(), re.S)
        printed = re.search(r"```python.*?```\n\n```\n(.*?)```", readme(), re.S).group(1)
        program = example.replace('"./collapse"', repr(collapse.find_binary()))
        self.assertNotEqual(program, example)
        done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, env={**os.environ, "OMP_NUM_THREADS": "1"},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        verdict, *dials = done.stdout.splitlines()
        self.assertEqual(verdict, "Collapsed")
        shown = [line.split()[:2] for line in printed.splitlines()[1:]]
        self.assertEqual([line.split()[0] for line in dials], [key for key, _ in shown])
        for line, (key, number) in zip(dials, shown):
            self.assertAlmostEqual(float(line.split()[1]), float(number), delta=.01, msg=key)

    def test_film(self):
        """Half of the film's epochs are enough. The quick start shows the same network."""
        command, again = (re.search(r"^\./collapse (train .*?[^\\])$", page, re.M | re.S).group(1).replace("\\\n", " ").split()
                          for page in (readme(), text("docs", "quickstart.md")))
        self.assertEqual(command, again)
        with tempfile.TemporaryDirectory() as lab:
            subprocess.run([collapse.find_binary(), *command, "--epochs", "30", "--lab", lab, "--set", "run.save_features=last"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            files = glob.glob(os.path.join(lab, "runs", "*", "features", "30", "*.safetensors"))
            said = json.loads(subprocess.check_output([collapse.find_binary(), "measure", "--json", "--null", "3", *sorted(files)]))
        self.assertTrue(said["finding"].startswith("Collapsed"), said["finding"])
        self.assertLess(said["measures"]["nc1_pinv"], .02)

    def test_theory(self):
        """What README and docs/theory.md say of `solve`; that of deep networks takes half a minute and is left out."""
        commands = re.findall(r"^(?:\| `)?\./collapse (solve [a-z0-9]+ [^`\n]*)", readme() + text("docs", "theory.md"), re.M)
        words = {"ce": "proved", "imbalanced": "one point", "relu3": "hexagon", "sphere": "icosahedron"}
        seen = set()
        for command in commands:
            model = command.split()[1]
            if model == "deep":
                continue
            with self.subTest(command), tempfile.TemporaryDirectory() as lab:
                self.assertIn(words[model], subprocess.check_output([collapse.find_binary(), *command.split(), "--lab", lab], text=True))
                seen.add(model)
        self.assertEqual(seen, set(words))


if __name__ == "__main__":
    unittest.main()
