"""The networks, with torchvision's names for their tensors. Each maps images (B, C, H, W) to logits (B, K) and features (B, d).

Every ReLU and every max pooling is a module, so that hooks and replacements find them all.
"""

from torch import nn
from torch.nn import functional

from .fields import Fields

WIDEST = 1 << 24  # largest width that an order may request


class Network(nn.Module):
    """fc on top of a trunk, whose output is the features. With a temperature, features and rows of fc's weight are divided by their norms,
    and logits are temperature times their cosines; fc then has no bias."""

    temperature = 0.0

    def forward(self, x):
        features = self.trunk(x)
        if self.temperature:
            features = unit(features)
        return functional.linear(features, self.rows(), self.fc.bias), features

    def rows(self):
        """W (K, d) with logits = W features + b."""
        return self.temperature * unit(self.fc.weight) if self.temperature else self.fc.weight


def unit(rows):
    """Rows divided by their norms; a row of zeros stays 0, with the gradient 0."""
    norms = rows.norm(dim=1, keepdim=True)
    return rows / norms.masked_fill(norms == 0, float("inf"))


class MLP(Network):
    """The layers in net.layers, in order; the last one is fc."""

    def __init__(self, net, classes):
        super().__init__()
        *layers, fc = net.groups("layers")
        self.layers = nn.Sequential(*[_MODULES[layer.choice("kind", _MODULES)](layer) for layer in layers])
        self.fc = _linear(fc)

    def trunk(self, x):
        return self.layers(x.flatten(1))


def _linear(layer):
    return nn.Linear(layer.whole("in", 1, WIDEST), layer.whole("out", 1, WIDEST), "bias" in layer.values and layer.flag("bias"))


_MODULES = {
    "linear": _linear,
    "batch_norm": lambda layer: nn.BatchNorm1d(layer.whole("out", 1, WIDEST), layer.number("eps"), layer.number("momentum")),
    "relu": lambda layer: nn.ReLU(),
    "sigmoid": lambda layer: nn.Sigmoid(),
}


def convolution(channels, out, size, stride):
    return nn.Conv2d(channels, out, size, stride, size // 2, bias=False)


class BasicBlock(nn.Module):
    """relu(bn2(conv2(relu(bn1(conv1(x))))) + downsample(x)) of He et al. 2016. project: downsample is a convolution even if x
    itself would fit."""

    def __init__(self, channels, width, out, stride, project=False):
        super().__init__()
        self.conv1, self.bn1 = convolution(channels, width, 3, stride), nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.conv2, self.bn2 = convolution(width, out, 3, 1), nn.BatchNorm2d(out)
        self.downsample = nn.Identity()
        if project or stride != 1 or channels != out:
            self.downsample = nn.Sequential(convolution(channels, out, 1, stride), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + self.downsample(x))


class ResNet(Network):
    """BasicBlocks 2-2-2-2 of width, 2, 4 and 8 times width channels. With the large stem, a 7×7 convolution of stride 2 and max
    pooling come first, else a 3×3 convolution. net.feature_dim, if not 0, is the width of the last block's output."""

    def __init__(self, net, classes, width, large):
        super().__init__()
        dim = net.whole("feature_dim", 0, WIDEST)
        self.conv1 = convolution(net.whole("channels", 1, WIDEST), width, 7 if large else 3, 2 if large else 1)
        self.bn1, self.relu = nn.BatchNorm2d(width), nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1) if large else nn.Identity()
        channels = width
        for layer in range(4):
            out = width << layer
            last = dim if layer == 3 and dim else out
            blocks = BasicBlock(channels, out, out, 1 if layer == 0 else 2), BasicBlock(out, out, last, 1, project=layer == 3 and dim > 0)
            self.add_module("layer%d" % (layer + 1), nn.Sequential(*blocks))
            channels = last
        self.fc = nn.Linear(channels, classes, net.flag("bias"))

    def trunk(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.layer4(self.layer3(self.layer2(self.layer1(x)))).mean((2, 3))


class VGG13(Network):
    """Configuration B of Simonyan and Zisserman 2015 followed by one linear layer."""

    def __init__(self, net, classes, norm):
        super().__init__()
        channels, layers = net.whole("channels", 1, WIDEST), []
        for out in (64, 128, 256, 512, 512):
            for _ in range(2):
                layers += [nn.Conv2d(channels, out, 3, 1, 1)] + [nn.BatchNorm2d(out)] * norm + [nn.ReLU()]
                channels = out
            layers.append(nn.MaxPool2d(2, 2))
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(channels, classes, net.flag("bias"))

    def trunk(self, x):
        return self.features(x).mean((2, 3))


def _resnet18(net, classes):
    cifar = net.values.get("stem") and net.choice("stem", ("default", "cifar")) == "cifar"
    return ResNet(net, classes, 64, not cifar)


def _adapt(net, classes):
    return ResNet(net, classes, net.whole("stem_width", 1, WIDEST), False)


NETWORKS = {
    "mlp": MLP,
    "resnet18": _resnet18,
    "resnet18-adapt": _adapt,
    "vgg13": lambda net, classes: VGG13(net, classes, False),
    "vgg13-bn": lambda net, classes: VGG13(net, classes, True),
}


def build(net, classes):
    """The network that the fields net describe, for the given number of classes, in float32 on the CPU. Its weights are torch's random
    ones until a checkpoint is loaded. Refused for an unknown kind."""
    made = NETWORKS[net.choice("kind", NETWORKS)](net, classes)
    made.temperature = net.number("temperature") if "temperature" in net.values else 0.0
    return made


def complete(net, state):
    """The fields of a network from a trace, completed with what the tensors of a checkpoint (name → tensor) show."""
    width, features = state.get("conv1.weight"), state["fc.weight"].shape[1]
    shown = {"bias": "fc.bias" in state, "stem_width": 0 if width is None else width.shape[0],
             "feature_dim": features if "layer4.1.downsample.0.weight" in state else 0}
    return Fields({**shown, **net}, "net")
