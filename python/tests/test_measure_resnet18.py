"""A model of torchvision, whole: ResNet18 with random weights, tapped, measured by `collapse measure`.

Needs the program (COLLAPSE_BINARY or PATH). Its numbers are compared with the definitions written out in float64.
"""

import subprocess
import unittest

import numpy as np

from support import FolderTest, needs_torchvision, torch, torchvision

import collapse


def program_or_skip():
    try:
        program = collapse.find_binary()
    except FileNotFoundError as e:
        raise unittest.SkipTest("the program is needed: %s" % e)
    if subprocess.run([program, "measure", "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        raise unittest.SkipTest("%s has no command `measure`" % program)
    return program


def unit(a):
    return a / np.linalg.norm(a)


def definitions(h, y, w, b):
    """The measures of docs/measures.md for balanced classes, in float64; h (N, d), w (K, d)."""
    h, w, b = (a.astype(np.float64) for a in (h, w, b))
    k = len(w)
    mu = np.stack([h[y == c].mean(0) for c in range(k)])
    centred, within = mu - h.mean(0), h - mu[y]
    sigma_w, sigma_b = within.T @ within / len(h), centred.T @ centred / k
    etf = (np.eye(k) - 1 / k) / np.sqrt(k - 1)
    decided, nearest = (h @ w.T + b).argmax(1), ((h[:, None] - mu) ** 2).sum(2).argmin(1)
    return {
        "nc1_pinv": np.trace(sigma_w @ np.linalg.pinv(sigma_b, rcond=1e-10)) / k,
        "nc1_trace_ratio": np.trace(sigma_w) / np.trace(sigma_b),
        "nc2_w": np.linalg.norm(unit(w @ w.T) - etf),
        "nc2_means_etf_centred": np.linalg.norm(unit(centred @ centred.T) - etf),
        "nc3_gram": np.linalg.norm(unit(w @ centred.T) - etf),
        "nc3_direct": np.linalg.norm(unit(w) - unit(mu)),
        "nc4_bias": np.linalg.norm(w @ h.mean(0) + b),
        "nc4_ncc_mismatch": (decided != nearest).mean(),
        "accuracy": (decided == y).mean(),
    }


@needs_torchvision
class MeasureResNet18Test(FolderTest):
    def test_tapped_resnet18_is_measured(self):
        program = program_or_skip()
        torch.manual_seed(0)
        model = torchvision.models.resnet18(weights=None, num_classes=4).eval()
        y = torch.arange(48) % 4
        x = torch.randn(48, 3, 64, 64) + y[:, None, None, None]
        with collapse.Tap(model, self.folder, layers=["layer1", "layer4"], shard_bytes=1 << 15) as tap, torch.no_grad():
            for begin in range(0, 48, 16):
                model(x[begin:begin + 16])
                tap.labels(y[begin:begin + 16])
        self.assertGreater(len(self.files("features")), 1)
        report = collapse.measure(self.folder, binary=program)
        self.assertEqual((report["n"], report["d"], report["k"], report["class_counts"]), (48, 512, 4, [12] * 4))
        want = definitions(self.stream("features"), self.stream("labels"), np.load(self.folder + "/weight.npy"), np.load(self.folder + "/bias.npy"))
        for key, value in want.items():
            self.assertIn(key, report["measures"], report["missing"].get(key))
            # 1e-5: the bound that products formed in float32 must keep.
            self.assertLessEqual(abs(report["measures"][key] - value), 1e-5 * abs(value) + 1e-9, key)
        layer = collapse.measure(self.folder, layer="layer1", binary=program)
        self.assertEqual(layer["d"], 64)
        self.assertIn("nc1_pinv", layer["measures"])
        self.assertIn("nc3_gram", layer["missing"])


if __name__ == "__main__":
    unittest.main()
