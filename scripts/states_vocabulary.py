#!/usr/bin/env python3
"""Captures a vocabulary as features and as states, and prints how far their measures are apart and what each took.

    scripts/states_vocabulary.py COLLAPSE [K D N]

COLLAPSE is the program (go build ./cmd/collapse); K tokens (5000) of which N (200000) come, after Zipf's law, in features of width D (256).
Needs numpy and torch. Whole features are measured as float32, where the program certifies nc1_pinv of float32 products, and, the same
numbers, as float64. Ends with 1 if a measure of float64 features is off by more than 1e-12 of itself.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "tests")
TIMED = ("import json, resource, subprocess, sys, time; start = time.time(); out = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True).stdout; "
         "print(json.dumps([time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, json.loads(out)]))")


def timed(*command):
    """[seconds, kilobytes at most, JSON] of a command of its own."""
    return json.loads(subprocess.run([sys.executable, "-c", TIMED, *command], stdout=subprocess.PIPE, check=True).stdout)


def main():
    program, size = sys.argv[1], sys.argv[2:] or ["5000", "256", "200000"]
    with tempfile.TemporaryDirectory() as folder:
        features, states = folder + "/features", folder + "/states"
        taken = {keep: timed(sys.executable, TESTS + "/vocabulary.py", folder + "/" + keep, keep, *size) for keep in ("features", "states")}
        wide = folder + "/wide.npz"
        load = lambda stream: np.concatenate([np.load(f) for f in sorted(glob.glob("%s/%s/*.npy" % (features, stream)))])
        np.savez(wide, features=load("features").astype(np.float64), labels=load("labels"), weight=np.load(features + "/weight.npy"), bias=np.load(features + "/bias.npy"))
        own = folder + "/own.ncs"
        subprocess.run([program, "measure", "--features", features + "/features/*.npy", "--labels", features + "/labels/*.npy", "--null", "0", "--state-out", own],
                       stdout=subprocess.DEVNULL, check=True)
        weights = ["--weights", states + "/weight.npy", "--bias", states + "/bias.npy"]
        measured = {name: timed(program, "measure", "--json", *arguments) for name, arguments in (
            ("states", [states]), ("features, float64", [wide]), ("features, float32", [features]), ("the program's state", ["--merge", own, *weights]))}
        stored = {keep: sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(folder + "/" + keep) for f in files) for keep in taken}
    got = measured["states"][2]
    print("K = %s, d = %s, N = %s: %d tokens came, %d of them once" % (*size, got["k"], got["class_counts"].count(1)))
    for keep, (_, _, took) in taken.items():
        print("capture, keep=%-9r %6.1f s  %5.0f MB at most, %5.0f MB stored" % (keep, took["seconds"], took["kilobytes"] / 1e3, stored[keep] / 1e6))
    for name, (seconds, kilobytes, _) in measured.items():
        print("measure, %-20s %6.1f s  %5.0f MB at most" % (name, seconds, kilobytes / 1e3))
    print("\n%-24s %-24s %s" % ("measure", "of states", "  ".join("off %-19s" % name for name in list(measured)[1:])))
    worst = 0.0
    for key, value in got["measures"].items():
        off = {name: abs(report["measures"][key] - value) / (abs(value) or 1) for name, (_, _, report) in measured.items()}
        worst = max(worst, off["features, float64"], off["the program's state"])
        print("%-24s %-24.17g %s" % (key, value, "  ".join("%-23.1e" % off[name] for name in list(measured)[1:])))
    print("\n%d measures, the furthest from those of float64 features and of the program's state off by %.1e of itself" % (len(got["measures"]), worst))
    return worst > 1e-12


if __name__ == "__main__":
    sys.exit(main())
