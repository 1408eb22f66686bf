"""Networks of collapse.engine with ReLUs and max poolings that can be led.

A ReLU's input that is 0 within rounding comes out on one side in one arithmetic and on the other in another, and with it one
sample's whole share of a gradient; so does the choice between two pixels of a max pooling that are equal within rounding. Sides
says on which side a pass goes.
"""
import torch
import torch.nn.functional as F
from torch import nn


class Sides:
    """Own sides: records every ReLU's input. Led: takes the sides of outputs that another pass had (led) wherever its own input is
    0, or two pixels are equal, within slack times the error that float32 has in that channel (inputs: a float32 pass's)."""

    def __init__(self, led=None, inputs=None, slack=1.0):
        self.led, self.reference, self.slack = led, inputs, slack
        self.inputs, self.outputs = [], []
        self.taken, self.largest, self.unexplained = 0, 0.0, []

    def near(self, i, x):
        """How large rounding may be at ReLU i, by channel."""
        error = (self.reference[i].double() - x).abs()
        return self.slack * error.amax([d for d in range(x.dim()) if d != 1], keepdim=True)

    def relu(self, x):
        i, value = len(self.inputs), x.detach()
        self.inputs.append(value)
        mask = value > 0
        if self.led is not None:
            theirs = self.led[i].reshape(x.shape) > 0
            differ = theirs != mask
            if differ.any():
                self.limit = self.near(i, value)
                near = differ & (value.abs() <= self.limit)
                self.count("ReLU %d" % i, near, differ, value.abs(), value.std())
                mask = torch.where(near, theirs, mask)
        self.outputs.append(value * mask)
        return x * mask

    def count(self, what, near, differ, size, scale):
        self.taken += int(near.sum())
        if near.any():
            self.largest = max(self.largest, (size[near].max() / scale).item())
        far = differ & ~near
        if far.any():
            self.unexplained.append("%s: %d on another side, %.3g of the spread from it" % (what, far.sum(), (size[far].max() / scale).item()))

    def max_pool(self, x, size, stride, pad):
        """Pools the output of the ReLU before it."""
        value, i = x.detach(), len(self.inputs) - 1
        best, at = F.max_pool2d(value, size, stride, pad, return_indices=True)
        flat = lambda t: t.flatten(2)
        if self.led is not None:
            led, theirs = F.max_pool2d(self.led[i].reshape(x.shape), size, stride, pad, return_indices=True)
            gap = best - flat(value).gather(2, flat(theirs)).reshape(best.shape)
            # Among zeros the gradient stops at the ReLU; a ReLU led to pass a negative value is above the zeros around it.
            differ = (theirs != at) & ((best > 0) | (led > 0))
            if differ.any():
                near = differ & (gap <= 2 * self.near(i, self.inputs[i]))
                self.count("max pooling after ReLU %d" % i, near, differ, gap, value.std())
                at = torch.where(near, theirs, at)
        return flat(x).gather(2, flat(at)).reshape(best.shape)


def led(net, sides):
    """The network, with sides instead of its ReLUs and max poolings."""
    for module in net.modules():
        if isinstance(module, nn.ReLU):
            module.forward = sides.relu
        elif isinstance(module, nn.MaxPool2d):
            module.forward = lambda x, m=module: sides.max_pool(x, m.kernel_size, m.stride, m.padding)
    return net
