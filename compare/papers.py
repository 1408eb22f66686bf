"""The papers' functions written out in numpy, in float32 as they are used.

usage: papers.py --folder DIR [--loop SAMPLES]

Without --loop: vectorised, on all samples. With --loop S: a Python loop with one outer product per sample, as
released, on the first S samples; the loop's seconds are multiplied by N/S, the rest is timed whole. Sources: Papyan,
Han & Donoho 2020; Zhu et al. 2021, (6)-(9). Prints {"load", "seconds", "values", "loop_samples"}.
"""

import argparse
import json
import sys
import time

import numpy as np

import arrays

ROWS_AT_ONCE = 8192


def class_means(h, y, k):
    """Class means (k, d) and the mean of all samples, one segment sum per class."""
    order = np.argsort(y, kind="stable")
    ends = np.searchsorted(y[order], np.arange(k), side="right")
    mu = np.empty((k, h.shape[1]), np.float32)
    begin = 0
    for c, end in enumerate(ends):
        mu[c] = h[order[begin:end]].mean(0)
        begin = end
    counts = np.diff(np.concatenate([[0], ends]))
    return mu, (counts @ mu / len(h)).astype(np.float32)


def within_covariance(h, y, mu):
    sigma = np.zeros((h.shape[1],) * 2, np.float32)
    for at in range(0, len(h), ROWS_AT_ONCE):
        r = h[at:at + ROWS_AT_ONCE] - mu[y[at:at + ROWS_AT_ONCE]]
        sigma += r.T @ r
    return sigma / np.float32(len(h))


def loop_statistics(h, y, k):
    """What the released code does: one sample at a time, for the means and for the covariance."""
    d = h.shape[1]
    sums, counts = np.zeros((k, d), np.float32), np.zeros(k)
    for x, c in zip(h, y):
        sums[c] += x
        counts[c] += 1
    mu = sums / np.maximum(counts, 1)[:, None].astype(np.float32)
    sigma = np.zeros((d, d), np.float32)
    for x, c in zip(h, y):
        r = x - mu[c]
        sigma += np.outer(r, r)
    return sigma / np.float32(len(h))


def decisions(h, y, w, b, mu):
    """Accuracy, and the share of samples which classifier and nearest class centre decide differently."""
    right = different = 0
    squares = (mu * mu).sum(1)
    for at in range(0, len(h), ROWS_AT_ONCE):
        x = h[at:at + ROWS_AT_ONCE]
        linear = (x @ w.T + b).argmax(1)
        nearest = (squares - 2 * (x @ mu.T)).argmin(1)
        right += (linear == y[at:at + ROWS_AT_ONCE]).sum()
        different += (linear != nearest).sum()
    return {"accuracy": right / len(h), "nc4_ncc_mismatch": different / len(h)}


def collapse_values(sigma_w, mu, mean, w, b):
    k, d = mu.shape
    centred = mu - mean
    sigma_b = centred.T @ centred / np.float32(k)
    # The cut-off of scipy.linalg.pinv: largest side times the precision of the numbers.
    pinv = np.linalg.pinv(sigma_b, rcond=d * np.finfo(np.float32).eps, hermitian=False)
    etf = (np.eye(k) - 1 / k) / np.sqrt(k - 1)
    gram, dual = w @ w.T, w @ centred.T
    return {
        "nc1_pinv": np.trace(sigma_w @ pinv) / k,
        "trace_within": np.trace(sigma_w),
        "trace_between": np.trace(sigma_b),
        "nc2_w": np.linalg.norm(gram / np.linalg.norm(gram) - etf),
        "nc3_gram": np.linalg.norm(dual / np.linalg.norm(dual) - etf),
        "nc4_bias": np.linalg.norm(w @ mean + b),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    parser.add_argument("--loop", type=int, default=0)
    args = parser.parse_args()
    clock, marks = time.perf_counter, {}
    begin = clock()
    a = arrays.load(args.folder)
    h, y, w, b = a["features"], a["labels"], a["weights"], a["bias"]
    loaded = clock() - begin

    begin = clock()
    mu, mean = class_means(h, y, len(w))
    marks["means"] = clock() - begin
    begin = clock()
    if args.loop:
        s = min(args.loop, len(h))
        sigma = loop_statistics(h[:s], y[:s], len(w))
        marks = {"loop over samples": (clock() - begin) * len(h) / s}
    else:
        sigma = within_covariance(h, y, mu)
        marks["covariance"] = clock() - begin
    begin = clock()
    values = collapse_values(sigma, mu, mean, w, b)
    marks["measures"] = clock() - begin
    begin = clock()
    values.update(decisions(h, y, w, b, mu))
    marks["decisions"] = clock() - begin
    values = {} if args.loop else {name: float(value) for name, value in values.items()}
    json.dump({"load": loaded, "seconds": marks, "values": values, "loop_samples": args.loop}, sys.stdout)


if __name__ == "__main__":
    main()
