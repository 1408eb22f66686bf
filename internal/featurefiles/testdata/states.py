#!/usr/bin/env python3
"""Writes torch.ncs, which the tests of states read: what keep="states" makes of seven rows, two of them in a second batch.

    PYTHONPATH=python internal/featurefiles/testdata/states.py
"""
import os
import tempfile

import numpy as np
import torch

from collapse.states import StateWriter

rows = torch.tensor([[1, 3], [8, -8], [3, -1], [0, 0.5], [float("nan"), 0], [2, 1], [1, 0]])
labels = np.array([0, 3, 0, 70000, 0, 0, 70000])
with tempfile.TemporaryDirectory() as folder:
    writer = StateWriter(os.path.join(folder, "states"), drop_nonfinite=True)
    for part in (slice(0, 5), slice(5, 7)):
        writer.append({"features": rows[part], "labels": labels[part]})
    writer.close()
    os.replace(os.path.join(folder, "states", "features.ncs"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch.ncs"))
