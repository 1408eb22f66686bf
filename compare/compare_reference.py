#!/usr/bin/python3
"""Compares `collapse measure` with the reference library and with the papers' functions in numpy.

usage: compare_reference.py --library DIR [--binary PATH] [--setting small|large|N,D,K ...] [--repeat R] [--out FILE]
       compare_reference.py --library DIR [--binary PATH] --agree [--seeds 10]

DIR is a checkout of github.com/rhubarbwu/neural-collapse (MIT licence), which is not part of this project. The first form
times all on the same float32 files, in the page cache, in one run. The second compares values in random settings, and
exits with 1 if a number differs without a documented reason. compare/README.md says more.
"""

import argparse
import json
import os
import subprocess
import sys

import agree
import process
import speed

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="checkout of the reference library")
    parser.add_argument("--binary", default=os.environ.get("COLLAPSE_BINARY", "collapse"), help="the collapse program")
    parser.add_argument("--setting", nargs="+", default=["small"], help="small (50000,512,10), large (200000,2048,1000) or N,D,K")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contender; the fastest counts")
    parser.add_argument("--agree", action="store_true", help="compare values in random settings")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", help="write everything seen to this JSON file")
    args = parser.parse_args()
    if not os.path.isdir(os.path.join(args.library, "neural_collapse")):
        parser.error("--library %s: it has no directory neural_collapse" % args.library)
    tools = Tools(args.library, args.binary)
    print("machine:", ", ".join("%s %s" % item for item in process.machine().items()))
    if process.blas_is_slow():
        print("WARNING: numpy and torch use the reference BLAS, about ten times slower than OpenBLAS; install libopenblas0-pthread")
    if not tools.has_measure:
        print("%s has no command `measure`: its columns stay empty" % args.binary)
    result = agree.run(tools, args.seeds) if args.agree else [speed.run(tools, s, args.repeat) for s in args.setting]
    if args.out:
        with open(args.out, "w") as f:
            json.dump(result, f, indent=1)
    if args.agree and result["failed"]:
        sys.exit(1)


class Tools:
    """How each contender is called on a folder of arrays."""

    def __init__(self, library, binary):
        self.library_path, self.binary = library, binary
        self.has_measure = self._offers("measure")
        self.has_bench = self._offers("bench", "measure")

    def _offers(self, *command):
        try:
            return subprocess.run([self.binary, *command, "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        except OSError:
            return False

    def library(self, folder, *more):
        return process.run([sys.executable, os.path.join(HERE, "reference_library.py"), "--library", self.library_path, "--folder", folder, *more])

    def papers(self, folder, *more):
        return process.run([sys.executable, os.path.join(HERE, "papers.py"), "--folder", folder, *more])

    def collapse(self, folder, *more, bias=True):
        at = lambda name: os.path.join(folder, name + ".npy")
        command = [self.binary, "measure", "--json", "--features", at("features"), "--labels", at("labels"), "--weights", at("weights")]
        command += ["--bias", at("bias")] if bias else []
        command += ["--ood", at("ood")] if os.path.exists(at("ood")) else []
        return process.run(command + list(more))


if __name__ == "__main__":
    main()
