"""What the scripts of the gallery share: the package's path, sizes, data without downloads."""

import argparse
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

import torch

IMAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")


def arguments(about):
    """--small for a test of seconds, --out for where the picture goes."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--small", action="store_true", help="as few epochs and samples as show that the script runs")
    parser.add_argument("--out", default=IMAGES, help="folder of the picture")
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return a


def shapes(n, classes=4, seed=0, size=12, noise=.25):
    """Images (n, 1, size, size) of `classes` fixed random patterns, shifted and noisy, with their classes."""
    patterns = torch.rand(classes + 4, size, size, generator=torch.Generator().manual_seed(7)).round()
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % classes
    x = patterns[y] + noise * torch.randn(n, size, size, generator=g)
    shift = torch.randint(-1, 2, (n, 2), generator=g).tolist()
    return torch.stack([torch.roll(image, tuple(s), (0, 1)) for image, s in zip(x, shift)])[:, None], y


def unknown(n, size=12, seed=9):
    """Images of four patterns that no class has."""
    x, y = shapes(n, 8, seed, size)
    return x[y >= 4]


def batches(x, y, size=64):
    return [(x[i:i + size], y[i:i + size]) for i in range(0, len(x), size)]


def cnn(classes=4, width=8):
    """A small convolutional network; .fc is the classifier, whose input .body gives."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
            self.conv2 = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
            self.conv3 = nn.Sequential(nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
            self.dense = nn.Sequential(nn.Flatten(), nn.Linear(2 * width * 9, 32), nn.ReLU())
            self.fc = nn.Linear(32, classes)

        def body(self, x):
            return self.dense(self.conv3(self.conv2(self.conv1(x))))

        def forward(self, x):
            return self.fc(self.body(x))
    return Net()


def train(model, x, y, epochs, after=lambda epoch, loss: None, lr=.05, size=64):
    """Plain SGD; after(epoch, loss) is called when an epoch has ended."""
    optimiser = torch.optim.SGD(model.parameters(), lr=lr, momentum=.9, weight_decay=5e-4)
    for epoch in range(1, epochs + 1):
        order, total = torch.randperm(len(x)), 0.
        for i in range(0, len(x), size):
            part = order[i:i + size]
            loss = torch.nn.functional.cross_entropy(model(x[part]), y[part])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(part)
        after(epoch, total / len(x))
