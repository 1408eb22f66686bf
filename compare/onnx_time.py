#!/usr/bin/python3
"""Times an evaluation of the benchmarks' networks in ONNX Runtime's CPU library, which folds batch norm and keeps packed weights between
evaluations: the peer of `collapse bench train --eval`.

    $(scripts/peers_env.sh) compare/onnx_time.py resnet18 --batch 128

Weights are PyTorch's random ones. Prints one line of JSON.
"""
import contextlib
import json
import os
import sys
import tempfile
import time
import warnings

import numpy
import onnxruntime
import torch

from torch_train import NETWORKS, WARM_UP, arguments, median, serve


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
    args = arguments(__doc__).parse_args()
    warnings.filterwarnings("ignore")
    run, shape = session(args)
    feeds = {"x": numpy.random.default_rng(0).standard_normal(shape, dtype=numpy.float32)}

    def step():
        began = time.perf_counter()
        run.run(None, feeds)
        return time.perf_counter() - began

    median(step, WARM_UP)
    print(json.dumps({**vars(args), "onnxruntime": onnxruntime.__version__, "step_ms": 1e3 * median(step, args.steps)}), flush=True)
    if args.serve:
        serve(step, args.steps)


if __name__ == "__main__":
    main()
