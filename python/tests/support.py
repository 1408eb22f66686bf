"""What the tests share: the import path, optional packages, temporary folders, reading a stream back."""

import glob
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

needs_torch = unittest.skipUnless(torch, "torch is not installed (Debian: python3-torch)")
needs_torchvision = unittest.skipUnless(torch and torchvision, "torchvision is not installed (Debian: python3-torchvision)")


class FolderTest(unittest.TestCase):
    """Gives every test an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "capture")

    def files(self, stream):
        return sorted(glob.glob(os.path.join(glob.escape(self.folder), stream, "*.npy")))

    def stream(self, stream):
        """All shards of a stream as one array."""
        return np.concatenate([np.load(path) for path in self.files(stream)])
