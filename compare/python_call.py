#!/usr/bin/python3
"""What a call of collapse.measure costs beside the measuring itself: 50,000 x 512 float32 features in ten classes, from the second call on.

usage: python_call.py [--binary PATH] [--library DIR] [--rounds 5]

Each round times `collapse bench measure`, numpy.copyto of the features and collapse.measure, one after the other, with --null 0 and with the
shuffles of the labels that a call makes by itself (null=9). The ratio is that of a call to measuring and one copy, in the same round. With DIR, a checkout of
github.com/rhubarbwu/neural-collapse, the library's own calls are timed too.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "python")]

import numpy as np

import collapse
from speed import BOTH

N, D, K, SPREAD = 50_000, 512, 10, .05  # as bench measure makes them


def best(call, times):
    def once():
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin
    call()
    return min(once() for _ in range(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="the collapse program")
    parser.add_argument("--library", help="checkout of the reference library")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    program = collapse.find_binary(args.binary)
    rng = np.random.default_rng(0)
    means = rng.uniform(-1, 1, (K, D)).astype(np.float32)
    y = rng.permutation(np.arange(N) % K)
    H = (means[y] + SPREAD * rng.uniform(-1, 1, (N, D))).astype(np.float32)
    out = np.empty_like(H)
    for null in (0, 9):
        ratios = []
        for _ in range(args.rounds):
            bench = json.loads(subprocess.run([program, "bench", "measure", "--json", "--null", str(null)], stdout=subprocess.PIPE, check=True).stdout)["seconds"]
            copy = best(lambda: np.copyto(out, H), 10)
            call = best(lambda: collapse.measure(H, y, means, null=null, binary=program), 10)
            ratios.append(call / (bench + copy))
            print("null=%d: bench measure %.1f ms, copyto %.1f ms, collapse.measure %.1f ms: ratio %.2f" % (null, 1e3 * bench, 1e3 * copy, 1e3 * call, ratios[-1]))
        print("null=%d: median ratio %.2f" % (null, statistics.median(ratios)))
    if args.library:
        import reference_library
        import torch
        accumulate, kernels, measure = reference_library.import_library(args.library)
        data = {"features": H, "labels": y, "weights": means}

        def library():
            with torch.no_grad():
                state, _ = reference_library.accumulated(accumulate, data, 4096)
                for one in reference_library.measures(measure, kernels, state, None).values():
                    one()
        theirs = best(library, 1)
        for asked, arguments in (("null=9", {}), ("null=0", {"null": 0}), ("null=0 and what both give", {"null": 0, "measures": BOTH.split(",")})):
            call = best(lambda: collapse.measure(H, y, means, binary=program, **arguments), 10)
            print("the library's own calls %.2f s, collapse.measure with %s %.1f ms: %.0f times" % (theirs, asked, 1e3 * call, theirs / call))


if __name__ == "__main__":
    main()
