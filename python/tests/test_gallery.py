"""Every script of docs/gallery runs at small size and draws its picture."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from support import ROOT, needs_torch

from test_arrays import needs_program
from test_history import parts

GALLERY = os.path.join(os.path.dirname(ROOT), "docs", "gallery")
SCRIPTS = sorted(set(map(os.path.basename, glob.glob(os.path.join(GALLERY, "*.py")))) - {"common.py"})


@needs_program
@needs_torch
class GalleryTest(unittest.TestCase):
    def test_scripts(self):
        self.assertEqual(SCRIPTS, ["collapsing.py", "layers.py", "memorization.py", "unknown.py", "vocabulary.py"])
        for script in SCRIPTS:
            with self.subTest(script=script), tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as hidden:
                with open(os.path.join(hidden, "matplotlib.py"), "w") as f:
                    f.write("raise ImportError('these pictures are drawn by the program')")
                done = subprocess.run([sys.executable, os.path.join(GALLERY, script), "--small", "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "PYTHONPATH": hidden})
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                pictures = os.listdir(out)
                self.assertIn(script.replace(".py", ".svg"), pictures)
                for picture in pictures:
                    lines = parts(ElementTree.parse(os.path.join(out, picture)), "series")
                    self.assertGreater(len(lines), 1)
                    self.assertTrue(all(int(line.get("data-points")) > 0 for line in lines))

    def test_every_script_has_its_page(self):
        with open(os.path.join(GALLERY, "README.md")) as f:
            text = f.read()
        for script in SCRIPTS:
            self.assertIn("(%s)" % script, text)
            self.assertIn("images/" + script.replace(".py", ".svg"), text)
        images = os.path.join(GALLERY, "images")
        for picture in os.listdir(images):
            self.assertIn("(images/%s)" % picture, text)
            self.assertLess(os.path.getsize(os.path.join(images, picture)), 60000, picture)


if __name__ == "__main__":
    unittest.main()
