"""A small convolutional network on MNIST, in plain PyTorch. COLLAPSE_DATA/mnist holds the four files of the data set."""
import argparse
import gzip
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

flags = argparse.ArgumentParser()
flags.add_argument("--lr", type=float, default=0.05)
flags.add_argument("--weight_decay", type=float, default=5e-4)
flags.add_argument("--seed", type=int, default=1)
flags.add_argument("--epochs", type=int, default=9)
args = flags.parse_args()


def read(name, start, shape=()):
    with gzip.open(os.path.join(os.environ["COLLAPSE_DATA"], "mnist", name)) as f:
        return torch.from_numpy(np.frombuffer(f.read(), np.uint8, offset=start).reshape((-1,) + shape).copy())


def samples(split, n):
    x = read(split + "-images-idx3-ubyte.gz", 16, (1, 28, 28))[:n].float() / 255
    return (x - 0.1307) / 0.3081, read(split + "-labels-idx1-ubyte.gz", 8)[:n].long()


torch.manual_seed(args.seed)
(x, y), (x_test, y_test) = samples("train", 1000), samples("t10k", 1000)
model = nn.Sequential(
    nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, 10))
optimiser = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=args.weight_decay)

for epoch in range(1, args.epochs + 1):
    model.train()
    for batch in torch.randperm(len(x), generator=torch.Generator().manual_seed(1000 * args.seed + epoch)).split(64):
        optimiser.zero_grad()
        F.cross_entropy(model(x[batch]), y[batch]).backward()
        optimiser.step()
    model.eval()
    hits = 0
    with torch.no_grad():
        for batch in torch.arange(len(x)).split(500):
            hits += (model(x[batch]).argmax(1) == y[batch]).sum().item()
    with torch.no_grad():
        logits = model(x_test)
    loss, accuracy = F.cross_entropy(logits, y_test).item(), (logits.argmax(1) == y_test).float().mean().item()
    print("epoch %d: train accuracy %.4f, test accuracy %.4f, test loss %.4f" % (epoch, hits / len(x), accuracy, loss), flush=True)
