"""A run as `open` describes it: the state that all other orders work on."""

import os

from . import alone, decay, devices, images, losses, memory, nets, optimisers, taps, weights
from .errors import InputError, Refused, explained, first_line
from .trainer import Trainer


def folder_of(order):
    """The run's folder."""
    folder = order.text("dir")
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        order.wrong("dir", "the absolute path of a folder that is there")
    return folder


class Setup:
    """What an open order says, apart from settings of loss, decay and optimiser. model is the network, on the CPU."""

    def __init__(self, order):
        self.device = devices.found(order.text("device"))
        dtype, precision = order.choice("dtype", devices.DTYPES), order.choice("precision", devices.PRECISIONS)
        self.arithmetic = devices.Arithmetic(self.device, dtype, precision)
        self.threads, self.batch = order.whole("threads", 1, 4096), order.whole("batch", 1)
        self.arithmetic.settle(self.threads)
        self.splits = order.texts("splits")
        if "train" not in self.splits or len(set(self.splits)) < len(self.splits):
            order.wrong("splits", "names of splits, each once, train among them")
        net, self.classes = order.group("net"), order.whole("classes", 1, 1 << 24)
        self.shape = tuple(net.whole(name, 1, 1 << 24) for name in ("channels", "height", "width"))
        if order.whole("inputs", 1) != self.shape[0] * self.shape[1] * self.shape[2]:
            order.wrong("inputs", "channels, height and width of net multiplied")
        self.model = nets.build(net, self.classes).to(self.arithmetic.dtype)
        if self.model.fc.out_features != self.classes:
            raise InputError("%s has %d outputs for %d classes" % (net.where, self.model.fc.out_features, self.classes))
        self.per_sample = self._tried(net)
        self.frozen = order.texts("frozen")
        self.params = weights.trained(self.model, self.frozen)
        if not self.params:
            raise Refused("open.frozen leaves nothing to train")

    def _tried(self, net):
        """Bytes that a sample keeps between forward and backward pass; also checks that the network accepts images of this shape."""
        try:
            return memory.saved_bytes(self.model, self.shape)
        except (RuntimeError, ValueError) as e:
            if explained(e, "open")[0] != "failed":
                raise
            raise InputError("%s takes no images of %d×%d×%d (torch says: %s)" % (net.where, *self.shape, first_line(str(e))))

    def read_images(self, order):
        """The data in the folder of an order."""
        return images.Images(folder_of(order), self.splits, self.shape, self.classes, order.whole("pad", 0, 127), self.arithmetic.dtype, self.device)

    def machine(self):
        return devices.machine(self.device, self.threads)


class Run(Setup):
    """Builds a run from the fields of an open order. Refused if it cannot be done here."""

    orders = alone

    def __init__(self, order):
        self.name, self.folder = order.text("run"), folder_of(order)
        super().__init__(order)
        self.model.to(self.device)
        self.params = weights.trained(self.model, self.frozen)
        loss = losses.build(order.group("loss"), self.classes)
        penalties = decay.Decay(order.group("decay"), self.params, self.arithmetic.wide)
        optimiser = optimisers.build(order.group("optim"), self.params)
        self.taps = taps.Taps(self.model, order.groups("taps"))
        self.trainer = Trainer(self.model, loss, penalties, optimiser, self.arithmetic, self.taps)
        self.images = self.read_images(order)
        self.bytes = memory.estimate(self, 1, self.images.bytes(), optimiser.copies, self.device.type == "cpu" or optimiser.looks)
        self.loaded = False  # the weights of a checkpoint have been loaded

    def lost(self, order):
        """After an error that may have cut off training: weights have to be loaded again."""
        self.loaded = False
