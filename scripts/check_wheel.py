"""Uses an installed wheel: files by the console script, a tapped model by the package. usage: check_wheel.py ENVIRONMENT FOLDER"""

import json
import os
import subprocess
import sys

import numpy as np

import collapse
import collapse_tap


def main(environment, folder):
    assert collapse.__file__.startswith(environment + os.sep), collapse.__file__
    assert collapse.find_binary().startswith(os.path.dirname(collapse.__file__) + os.sep), collapse.find_binary()
    assert collapse_tap.Tap is collapse.Tap
    os.makedirs(folder, exist_ok=True)
    features = np.array([[3, 0], [5, 0], [0, 1], [0, 3.0]])
    np.save(os.path.join(folder, "h.npy"), features)
    np.save(os.path.join(folder, "y.npy"), np.array([0, 0, 1, 1]))
    out = subprocess.run([os.path.join(environment, "bin", "collapse"), "measure", "--json", "--features", os.path.join(folder, "h.npy"), "--labels", os.path.join(folder, "y.npy")],
                         check=True, stdout=subprocess.PIPE).stdout
    # Means (4, 0) and (0, 2), variance 1 within each class: (1 + 1) / (2 · 20).
    assert abs(json.loads(out)["measures"]["cdnv"] - 1 / 20) < 1e-15, out
    print("h.npy: cdnv", json.loads(out)["measures"]["cdnv"])
    tapped(features.astype(np.float32), os.path.join(folder, "tapped"))


def tapped(features, folder):
    """The same features as the input of a classifier that a Tap finds."""
    try:
        import torch
    except ImportError:
        print("no torch: nothing was tapped")
        return
    model = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Linear(2, 2)).eval()
    with collapse.Tap(model, folder, overwrite=True) as tap, torch.no_grad():
        model(torch.from_numpy(features))
        tap.labels(torch.tensor([0, 0, 1, 1]))
    measures = collapse.measure(folder)["measures"]
    assert abs(measures["cdnv"] - 1 / 20) < 1e-15, measures
    print("tapped: cdnv", measures["cdnv"])


if __name__ == "__main__":
    main(*sys.argv[1:])
