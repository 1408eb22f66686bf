#!/usr/bin/python3
"""Times an evaluation of the benchmarks' networks in ONNX Runtime's CPU library, which folds batch norm and keeps packed weights between
evaluations: the peer of `collapse bench train --eval`.

    $(scripts/peers_env.sh) compare/onnx_time.py resnet18 --batch 128

Weights are PyTorch's random ones. Prints one line of JSON.
"""
import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
import warnings

import numpy
import onnxruntime
import torch

from torch_train import NETWORKS, WARM_UP


def session(args):
    """A session with the network, and the shape of its input."""
    torch.manual_seed(0)
    net, shape, _ = NETWORKS[args.net](args.width)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        file = os.path.join(folder, "net.onnx")
        torch.onnx.export(net.eval(), (torch.zeros(args.batch, *shape),), file, input_names=["x"], output_names=["logits"])
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"]), (args.batch, *shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", choices=NETWORKS)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=11, help="timed evaluations; the median counts")
    parser.add_argument("--width", type=int, default=8, help="channels of the first stage of resnet18-adapt")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--serve", action="store_true", help="keep the network, and time it anew for each line of standard input")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    run, shape = session(args)
    feeds = {"x": numpy.random.default_rng(0).standard_normal(shape, dtype=numpy.float32)}

    def median(steps):
        times = []
        for _ in range(steps):
            began = time.perf_counter()
            run.run(None, feeds)
            times.append(time.perf_counter() - began)
        return {"step_ms": 1e3 * statistics.median(times)}

    median(WARM_UP)
    print(json.dumps({**vars(args), "onnxruntime": onnxruntime.__version__, **median(args.steps)}), flush=True)
    if args.serve:
        for _ in sys.stdin:
            print(json.dumps(median(args.steps)), flush=True)


if __name__ == "__main__":
    main()
