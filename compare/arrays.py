"""Made features: class means plus noise, a classifier near them, and files that every contender reads."""

import json
import os

import numpy as np

ROWS_AT_ONCE = 8192  # rows made in one piece, so that 1.6 GB of features need no memory


def make(folder, n, d, k, seed=0, spread=0.1, offset=0.5, imbalance=1.0, ood=0):
    """Writes features.npy (n, d), labels.npy, weights.npy (k, d), bias.npy, ood.npy and ood_labels.npy.

    A class mean is offset + N(0, 1) in each coordinate, as features after a ReLU share a large common part; a
    sample adds N(0, spread²): nearly collapsed, not quite. The classifier is the centred means plus a tenth of noise.
    imbalance: size of the largest class over the smallest; sizes fall geometrically. All floats are float32.
    """
    rng = np.random.default_rng(seed)
    means = (offset + rng.standard_normal((k, d))).astype(np.float32)
    labels = _labels(rng, n, k, imbalance)
    centred = means - means.mean(0)
    weights = (centred + 0.1 * rng.standard_normal((k, d))) / np.sqrt(d)
    save = lambda name, array: np.save(os.path.join(folder, name + ".npy"), array)
    save("labels", labels)
    save("weights", weights.astype(np.float32))
    save("bias", (0.3 * rng.standard_normal(k)).astype(np.float32))
    _rows(os.path.join(folder, "features.npy"), rng, means, labels, spread)
    if ood:
        ood_labels = _labels(rng, ood, k, imbalance)
        save("ood_labels", ood_labels)
        _rows(os.path.join(folder, "ood.npy"), rng, (offset + rng.standard_normal((k, d))).astype(np.float32), ood_labels, 1.0)
    with open(os.path.join(folder, "arrays.json"), "w") as f:
        json.dump({"n": n, "d": d, "k": k, "seed": seed, "spread": spread, "offset": offset, "imbalance": imbalance}, f)


def load(folder):
    """name -> array. Features are mapped, not read: they are file pages, not memory of the contender."""
    arrays = {}
    for name in ("features", "labels", "weights", "bias", "ood", "ood_labels"):
        path = os.path.join(folder, name + ".npy")
        if os.path.exists(path):
            # Copy on write: torch wants writable arrays, and nobody writes.
            arrays[name] = np.load(path, mmap_mode="c" if name in ("features", "ood") else None)
    return arrays


def _labels(rng, n, k, imbalance):
    """n shuffled labels; every class has at least two samples."""
    share = imbalance ** -np.linspace(0, 1, k)
    counts = np.maximum(2, np.floor(n * share / share.sum()).astype(int))
    counts[0] += n - counts.sum()
    if imbalance == 1 and n % k == 0:
        counts[:] = n // k
    return rng.permutation(np.repeat(np.arange(k), counts))


def _rows(path, rng, means, labels, spread):
    out = np.lib.format.open_memmap(path, "w+", np.float32, (len(labels), means.shape[1]))
    for begin in range(0, len(labels), ROWS_AT_ONCE):
        y = labels[begin:begin + ROWS_AT_ONCE]
        noise = rng.standard_normal((len(y), means.shape[1]), dtype=np.float32)
        out[begin:begin + len(y)] = means[y] + np.float32(spread) * noise
    out.flush()
