"""Checkpoints of the program go through collapse.engine and come out as the same bytes, so that either can go on from the other's."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import support

if support.torch:
    from engine_support import ADAM, SGD, FolderTest, image_net, lbfgs, mlp

    from collapse import find_binary
else:
    FolderTest = unittest.TestCase

GLYPHS = ["--data", "glyphs", "--epochs", "1", "--classes", "3", "--set", "data.samples_per_class=20", "--set", "data.test_samples_per_class=4", "--batch", "16"]
PERCEPTRON = ["--depth", "1", "--width", "7", "--feature-dim", "4"]
ADAPT = ["--net", "resnet18-adapt", "--set", "net.stem_width=2"]


@support.needs_torch
class Checkpoints(FolderTest):
    def setUp(self):
        try:
            self.binary = find_binary()
        except FileNotFoundError as e:
            self.skipTest(str(e))

    def trained(self, *arguments):
        """The folder with the last checkpoint of a run of the program."""
        lab = tempfile.TemporaryDirectory()
        self.addCleanup(lab.cleanup)
        done = subprocess.run([self.binary, "--lab", lab.name, "train", *GLYPHS, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        models = glob.glob(lab.name + "/**/model.safetensors", recursive=True)
        return os.path.dirname(max(models, key=os.path.getmtime))

    def test_come_back_as_the_same_bytes(self):
        perceptron = {**mlp(inputs=3072), "channels": 3, "height": 32, "width": 32}
        search = lbfgs()
        search["lbfgs"]["history"] = 10
        for arguments, net, dtype, optim in (
                (PERCEPTRON + ["--set", "run.dtype=float64"], perceptron, "float64", SGD), (PERCEPTRON + ["--set", "optim.kind=adam"], perceptron, "float32", ADAM),
                (PERCEPTRON + ["--set", "optim.kind=lbfgs"], perceptron, "float32", search), (ADAPT, image_net("resnet18-adapt"), "float32", SGD),
                (ADAPT + ["--set", "net.feature_dim=5"], image_net("resnet18-adapt", feature_dim=5), "float32", SGD)):
            with self.subTest(arguments=arguments):
                theirs, folder = self.trained(*arguments), self.folder(net, dtype=dtype, optim=optim)
                engine = self.engine(folder, load=False)
                for name in ("model", "optim"):
                    shutil.copy("%s/%s.safetensors" % (theirs, name), "%s/%s" % (folder.path, name))
                self.do(engine, "load", model="model", optim="optim")
                self.do(engine, "save", model="m1", optim="o1")
                for name, ours in (("model", "m1"), ("optim", "o1")):
                    with open(folder.path + "/" + name, "rb") as one, open(folder.path + "/" + ours, "rb") as other:
                        self.assertEqual(one.read(), other.read(), name)


if __name__ == "__main__":
    unittest.main()
