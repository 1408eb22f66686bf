#!/usr/bin/python3
"""Times a training step, or an evaluation, of the benchmarks' networks in PyTorch: the peer of `collapse bench train`.

    /usr/bin/python3 compare/torch_train.py mlp --batch 512
    /usr/bin/python3 compare/torch_train.py resnet18 --batch 128 --eval
    /usr/bin/python3 compare/torch_train.py resnet18-adapt --batch 64 --width 16 --threads 1

A step is forward pass, cross entropy, backward pass and SGD with Nesterov momentum and weight decay, on random data. Image networks are
timed in both memory formats, and the faster one counts. Prints one line of JSON. PyTorch on a bare Debian uses the reference BLAS, which is tens of times slower:
install libopenblas0-pthread beside python3-torch.
"""
import argparse
import json
import resource
import statistics
import sys
import time
import warnings

import torch
from torch import nn
from torch.nn import functional

WARM_UP = 2  # steps that are not timed: the first ones allocate


def conv(inputs, outputs, size=3, stride=1):
    return nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)


def mlp(_):
    """784 → 9×2048 → 2 → 2 with batch norm, as Nguyen et al. 2023 print it."""
    widths = [784] + 9 * [2048] + [2]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Linear(2, 2)), (784,), 2


class BasicBlock(nn.Module):
    """Two 3×3 convolutions beside a shortcut (He et al. 2016)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first, self.norm1 = conv(inputs, outputs, stride=stride), nn.BatchNorm2d(outputs)
        self.second, self.norm2 = conv(outputs, outputs), nn.BatchNorm2d(outputs)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        h = functional.relu(self.norm1(self.first(x)), inplace=True)
        return functional.relu(self.norm2(self.second(h)) + self.shortcut(x), inplace=True)


def resnet(stem, width):
    """Four stages of two blocks with width, 2, 4 and 8 times width channels behind the stem; images of 3×32×32."""
    blocks, inputs = [], width
    for stage in range(4):
        outputs = width << stage
        blocks += [BasicBlock(inputs, outputs, 1 if stage == 0 else 2), BasicBlock(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10)), (3, 32, 32), 10


def small_stem(width):
    return [conv(3, width), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]


def default_stem():
    return [conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]


def vgg13(_):
    """Ten 3×3 convolutions and five poolings, one linear layer behind them."""
    layers, inputs = [], 3
    for outputs in (64, 128, 256, 512, 512):
        for _ in range(2):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = outputs
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10)), (3, 32, 32), 10


NETWORKS = {
    "mlp": mlp,
    "resnet18": lambda _: resnet(default_stem(), 64),
    "resnet18-cifar": lambda _: resnet(small_stem(64), 64),
    "resnet18-adapt": lambda width: resnet(small_stem(width), width),
    "vgg13": vgg13,
}


class Timed:
    """A network that is made and warmed up once, and timed whenever asked."""

    def __init__(self, args, memory_format):
        torch.manual_seed(0)
        net, shape, classes = NETWORKS[args.net](args.width)
        x, self.y = torch.randn(args.batch, *shape), torch.randint(classes, (args.batch,))
        if len(shape) == 3:
            net, x = net.to(memory_format=memory_format), x.contiguous(memory_format=memory_format)
        net.train(not args.eval)
        self.x, self.evaluate = x, args.eval
        self.sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-3)
        self.net = torch.compile(net) if args.compile else net
        for _ in range(WARM_UP):
            self.step()

    def step(self):
        """The seconds of one step."""
        began = time.perf_counter()
        if self.evaluate:
            with torch.no_grad():
                self.net(self.x)
        else:
            self.sgd.zero_grad(set_to_none=True)
            functional.cross_entropy(self.net(self.x), self.y).backward()
            self.sgd.step()
        return time.perf_counter() - began


def arguments(description):
    """What every peer that is timed takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", choices=NETWORKS)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=7, help="timed steps; the median counts")
    parser.add_argument("--width", type=int, default=8, help="channels of the first stage of resnet18-adapt")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--serve", action="store_true", help="keep the network, and time it anew for each line of standard input")
    return parser


def median(step, steps):
    """The median of the seconds of so many steps; step returns those of one."""
    return statistics.median(step() for _ in range(steps))


def serve(step, steps):
    """Prints the median of so many steps, in milliseconds, for each line that comes in."""
    for _ in sys.stdin:
        print(json.dumps({"step_ms": 1e3 * median(step, steps)}), flush=True)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--eval", action="store_true", help="the forward pass of evaluation instead of a training step")
    parser.add_argument("--compile", action="store_true", help="by torch.compile, which needs a C++ compiler")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(args.threads)
    formats = [torch.contiguous_format] if args.net == "mlp" else [torch.contiguous_format, torch.channels_last]
    best, least = None, float("inf")
    for memory_format in formats:
        timed = Timed(args, memory_format)
        if (seconds := median(timed.step, args.steps)) < least:
            best, best_format, least = timed, str(memory_format), seconds
    print(json.dumps({
        **vars(args), "torch": torch.__version__, "format": best_format, "step_ms": 1e3 * least, "images_per_s": args.batch / least,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,  # kilobytes on Linux
    }), flush=True)
    if args.serve:
        serve(best.step, args.steps)


if __name__ == "__main__":
    main()
