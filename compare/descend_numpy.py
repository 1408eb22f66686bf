#!/usr/bin/env python3
"""Plain gradient descent of `collapse solve mse` against the same loop in numpy, taking turns in one run.

    go build -o collapse ./cmd/collapse
    python3 compare/descend_numpy.py --binary ./collapse

Both start from N(0,1) and minimise 1/(2N)|WH − Y|² + lw/2|W|² + lh/2|H|² (no bias) with simultaneous steps;
both ends are compared with the exact optimum, so that neither does less than the whole work.
"""
import argparse
import json
import os
import subprocess
import sys
import time


def numpy_descent(k, d, n, lw, lh, step, iterations, seed):
    """Returns seconds and the final objective."""
    import numpy as np

    rng = np.random.default_rng(seed)
    total = k * n
    y = np.kron(np.eye(k), np.ones((1, n)))
    w, h = rng.standard_normal((k, d)), rng.standard_normal((d, total))
    began = time.perf_counter()
    for _ in range(iterations):
        g = (w @ h - y) / total
        dw = g @ h.T + lw * w
        dh = w.T @ g + lh * h
        w -= step * dw
        h -= step * dh
    seconds = time.perf_counter() - began
    objective = ((w @ h - y) ** 2).sum() / (2 * total) + lw / 2 * (w**2).sum() + lh / 2 * (h**2).sum()
    return seconds, objective


def own_descent(binary, k, d, n, lw, lh, step, iterations, seed):
    """Returns seconds, the final objective and the exact one."""
    flags = dict(k=k, d=d, n=n, lw=lw, lh=lh, step=step, iters=iterations, seed=seed)
    command = [binary, "--json", "solve", "mse", "--optimizer", "gd", "--lb", "none"]
    command += [part for name, value in flags.items() for part in (f"--{name}", str(value))]
    out = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return out["found"]["seconds"], out["found"]["objective"], out["exact"]["objective"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--iterations", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blas-threads", default="1", help="more threads are no faster at this size")
    args = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = args.blas_threads  # read when numpy is first imported
    setting = dict(k=4, d=20, n=50, lw=0.005, lh=0.005, step=0.1, iterations=args.iterations)
    theirs, ours = [], []
    for seed in range(args.rounds):
        seconds, objective = numpy_descent(**setting, seed=seed)
        theirs.append(seconds)
        own, own_objective, exact = own_descent(args.binary, **setting, seed=seed)
        ours.append(own)
        print(f"numpy {seconds:.3f} s, f - f* = {objective - exact:.1e};  collapse {own:.3f} s, f - f* = {own_objective - exact:.1e}")
        if not (abs(objective - exact) < 1e-9 and abs(own_objective - exact) < 1e-9):
            sys.exit("a descent did not reach the optimum: the times say nothing")
    print(f"fastest of {args.rounds}: numpy {min(theirs):.3f} s, collapse {min(ours):.3f} s, ratio {min(theirs) / min(ours):.2f} at {args.iterations} iterations")


if __name__ == "__main__":
    main()
