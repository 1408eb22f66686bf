#!/usr/bin/env python3
"""Measures files of less than 10 MB whose shapes make measuring dear, and prints what each costs.

    scripts/shapes.py COLLAPSE [NAME ...]

COLLAPSE is the program (go build ./cmd/collapse). Needs numpy. Ends with 1 if a shape takes more than 60 s or 1 GB; times mean something on
a quiet machine only. The limits that keep them low are tested by counts: TestUnaskedWork.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

rng = np.random.default_rng(1)
F16, F32, I8 = np.float16, np.float32, np.int8


def x(n, d, t):
    a = rng.standard_normal((n, d))
    return (a * 30).astype(t) if t is I8 else a.astype(t)


def shape(n, d, k, t, rows=0):
    """n samples of width d in k classes, and a classifier of so many rows."""
    arrays = {"features": x(n, d, t), "labels": (np.arange(n) % k).astype(np.int32)}
    if rows:
        arrays["weight"] = x(rows, d, t)
    return arrays


SHAPES = {
    "60,000 classes of a number": lambda: shape(120_000, 1, 60_000, F32),
    "200,000 classes of a number": lambda: shape(400_000, 1, 200_000, F32),
    "950,000 classes of a number": lambda: shape(1_900_000, 1, 950_000, I8),
    "pairs just asked": lambda: shape(39_800, 1, 19_900, F32),
    "30,000 classes of 32 numbers": lambda: shape(60_000, 32, 30_000, F16),
    "100,000 classes of 16 numbers": lambda: shape(200_000, 16, 100_000, F16),
    "a million samples, each its class and row": lambda: shape(1_000_000, 1, 1_000_000, F16, 1_000_000),
    "two classes beside a million rows": lambda: shape(900_000, 1, 2, F16, 1_000_000),
    "100 classes beside 100,000 rows": lambda: shape(100, 48, 100, F16, 100_000),
    "12,000 classes and rows of 64 numbers": lambda: shape(24_000, 64, 12_000, F16, 12_000),
    "square, a sample each": lambda: shape(3100, 3100, 3100, I8),
    "square, two samples each": lambda: shape(3100, 3100, 1550, I8),
    "square, float32": lambda: shape(1580, 1580, 1580, F32),
    "one sample": lambda: shape(1, 4_900_000, 1, F16),
    "four samples of two classes": lambda: shape(4, 2_400_000, 2, I8),
    "100 samples of 98,000 numbers": lambda: shape(100, 98_000, 50, I8),
    "many samples of a number": lambda: shape(1_900_000, 1, 100, I8),
}


def main():
    program, names = sys.argv[1], sys.argv[2:] or SHAPES
    over = False
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "shape.npz")
        for name in names:
            np.savez(path, **SHAPES[name]())
            size = os.path.getsize(path) / 1e6
            log = os.path.join(folder, "time")
            done = subprocess.run(["time", "-o", log, "-f", "%e %U %M", program, "measure", path], stdout=subprocess.DEVNULL, check=False)
            with open(log, encoding="utf-8") as f:
                wall, user, kilobytes = (float(v) for v in f.read().split("\n")[-2].split())
            bad = wall > 60 or kilobytes > 1e6 or done.returncode != 0
            over |= bad
            print(f"{name:45} {size:5.1f} MB  {wall:6.1f} s  {user:6.1f} s of processor  {kilobytes / 1e3:6.0f} MB  exit code {done.returncode}{'  OVER' if bad else ''}", flush=True)
    return over


if __name__ == "__main__":
    sys.exit(main())
