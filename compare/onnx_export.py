#!/usr/bin/python3
"""Writes a benchmark's network, as evaluation runs it, for ONNX Runtime: the peer that keeps packed weights between evaluations.

    /usr/bin/python3 compare/onnx_export.py resnet18 --batch 128 resnet18.onnx

Weights are PyTorch's random ones. Batch norm is folded into the convolutions, as ONNX Runtime and `collapse` do.
"""
import argparse
import warnings

import torch

from torch_train import NETWORKS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", choices=NETWORKS)
    parser.add_argument("file")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--width", type=int, default=8, help="channels of the first stage of resnet18-adapt")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    net, shape, _ = NETWORKS[args.net](args.width)
    torch.onnx.export(net.eval(), torch.zeros(args.batch, *shape), args.file, input_names=["x"], output_names=["logits"], opset_version=16)


if __name__ == "__main__":
    main()
