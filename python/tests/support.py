"""What the tests share: the import path, optional packages, temporary folders, reading a stream back."""

import glob
import json
import os
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

try:
    import torch
except ImportError:
    torch = None
try:
    import torchvision
except ImportError:
    torchvision = None

import collapse  # after its folder has joined the path

needs_torch = unittest.skipUnless(torch, "torch is not installed (Debian: python3-torch)")
needs_torchvision = unittest.skipUnless(torch and torchvision, "torchvision is not installed (Debian: python3-torchvision)")


class FolderTest(unittest.TestCase):
    """Gives every test an empty folder of its own, and random numbers that do not depend on the tests before it."""

    def setUp(self):
        if torch:
            torch.manual_seed(0)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "capture")

    def files(self, stream):
        return sorted(glob.glob(os.path.join(glob.escape(self.folder), stream, "*.npy")))

    def stream(self, stream):
        """All shards of a stream as one array."""
        return np.concatenate([np.load(path) for path in self.files(stream)])


class CaptureTest(FolderTest):
    """Captures of the models of kinds.py."""

    def info(self, folder=None):
        """What tap.json says."""
        with open((folder or self.folder) + "/tap.json") as f:
            return json.load(f)

    def capture(self, model, batches, labels=None, **options):
        with torch.no_grad(), collapse.Tap(model, self.folder, labelled=labels is not None, **options) as tap:
            for i, x in enumerate(batches):
                model(x)
                if labels is not None:
                    tap.labels(labels[i])
        return self.info()

    def recorded(self):
        """(h, W, b) from the files, in float64."""
        weight = np.load(self.folder + "/weight.npy").astype(np.float64)
        path = self.folder + "/bias.npy"
        bias = np.load(path).astype(np.float64) if os.path.exists(path) else np.zeros(len(weight))
        return self.stream("features").astype(np.float64), weight, bias
