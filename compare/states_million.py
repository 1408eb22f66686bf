#!/usr/bin/python3
"""A vocabulary of 50,000 classes in a million rows, measured through states in chunks: how long it takes, and in how much memory.

usage: states_million.py [--n 1000000] [--d 1024] [--k 50000] [--chunk 4096] [--binary PATH] [--json]

Rows are made chunk by chunk (class means and noise, labels after Zipf's law but each class at least twice) and given to the sums over classes that
collapse.Tap(keep="states") keeps; then the program measures the state with a classifier. Making rows is timed apart. Needs numpy and torch.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "python")]

import numpy as np
import torch

import process

from collapse.command import call, find_binary
from collapse.result import Result
from collapse.states import StateWriter


def labels_of(rng, n, k):
    """n labels in random order: every class twice, the rest after Zipf's law."""
    share = 1 / np.arange(1, k + 1)
    return rng.permutation(np.concatenate([np.repeat(np.arange(k), 2), rng.choice(k, n - 2 * k, p=share / share.sum())]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000, help="rows, at least two for each class")
    parser.add_argument("--d", type=int, default=1024)
    parser.add_argument("--k", type=int, default=50_000)
    parser.add_argument("--chunk", type=int, default=4096, help="rows that are there at a time")
    parser.add_argument("--binary", help="the collapse program")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    args = parser.parse_args()
    if args.n < 2 * args.k:
        parser.error("--n %d rows are fewer than two for each of %d classes" % (args.n, args.k))
    if process.blas_is_slow():
        print("WARNING: numpy and torch use the reference BLAS, about ten times slower than OpenBLAS; install libopenblas0-pthread", file=sys.stderr)
    rng, seconds = np.random.default_rng(0), {"rows": 0.0, "states": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        means, y = rng.standard_normal((args.k, args.d), np.float32), labels_of(rng, args.n, args.k)
        weights = os.path.join(folder, "weight.npy")
        np.save(weights, means)
        writer = StateWriter(os.path.join(folder, "states"))
        for start in range(0, args.n, args.chunk):
            begin = time.perf_counter()
            part = y[start:start + args.chunk]
            rows = torch.from_numpy(means[part] + np.float32(.3) * rng.standard_normal((len(part), args.d), np.float32))
            middle = time.perf_counter()
            writer.append({"features": rows, "labels": part})
            seconds["rows"] += middle - begin
            seconds["states"] += time.perf_counter() - middle
        begin = time.perf_counter()
        writer.close()
        seconds["states"] += time.perf_counter() - begin
        del writer, means, rows  # as if the program was called later
        begin = time.perf_counter()
        result = Result(call([find_binary(args.binary), "measure", "--json", "--merge", os.path.join(folder, "states", "features.ncs"), "--weights", weights]))
        seconds["measure"] = time.perf_counter() - begin
        stored = os.path.getsize(os.path.join(folder, "states", "features.ncs"))
    used = {"python": resource.getrusage(resource.RUSAGE_SELF), "program": resource.getrusage(resource.RUSAGE_CHILDREN)}
    peak, cpu = {name: u.ru_maxrss / 1e6 for name, u in used.items()}, {name: u.ru_utime + u.ru_stime for name, u in used.items()}
    if args.json:
        json.dump({"n": args.n, "d": args.d, "k": args.k, "seconds": seconds, "cpu_seconds": cpu, "peak_gb": peak, "stored_gb": stored / 1e9, "measures": result.measures}, sys.stdout)
        return
    print("K = %d, d = %d, N = %d; the state takes %.2f GB" % (args.k, args.d, args.n, stored / 1e9))
    print("seconds: %s" % ", ".join("%s %.1f" % item for item in seconds.items()))
    print("seconds of one core: %s" % ", ".join("%s %.1f" % item for item in cpu.items()))
    print("peak resident: %s" % ", ".join("%s %.2f GB" % item for item in peak.items()))
    print("%d measures; nc1_pinv %.6g, nc1_trace_ratio %.6g, nc3_direct %.6g" % (len(result.measures), result.nc1_pinv, result.nc1_trace_ratio, result.nc3_direct))


if __name__ == "__main__":
    main()
