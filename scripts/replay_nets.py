"""The networks of a trace in PyTorch, written after the papers' definitions, with ReLUs and max poolings that can be led.

A ReLU's input that is 0 within rounding comes out on one side in one arithmetic and on the other in another, and with it one
sample's whole share of a gradient; so does the choice between two pixels of a max pooling that are equal within rounding. Sides
says on which side a pass goes.
"""
import torch
import torch.nn.functional as F

EPS, MOMENTUM = 1e-5, 0.1  # of batch norm, PyTorch's defaults


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


def batch_norm(state, name, x):
    return F.batch_norm(x, state[name + ".running_mean"], state[name + ".running_var"], state[name + ".weight"], state[name + ".bias"],
                        True, MOMENTUM, EPS)


def mlp(net, state, x, sides):
    for layer in net["layers"][:-1]:
        name = layer.get("name")
        if layer["kind"] == "linear":
            x = F.linear(x, state[name + ".weight"], state.get(name + ".bias"))
        elif layer["kind"] == "batch_norm":
            assert (layer["eps"], layer["momentum"]) == (EPS, MOMENTUM), layer
            x = batch_norm(state, name, x)
        else:
            x = torch.sigmoid(x) if layer["kind"] == "sigmoid" else sides.relu(x)
    return x


def resnet(net, state, x, sides):
    """ResNet18 (He et al. 2016), both stems, and resnet18-adapt; names are torchvision's."""
    x = x.reshape(-1, net["channels"], net["height"], net["width"])
    conv = lambda name, x, stride: F.conv2d(x, state[name + ".weight"], None, stride, state[name + ".weight"].shape[2] // 2)
    default = net["kind"] == "resnet18" and net.get("stem", "default") == "default"
    x = sides.relu(batch_norm(state, "bn1", conv("conv1", x, 2 if default else 1)))
    if default:
        x = sides.max_pool(x, 3, 2, 1)
    for layer in range(1, 5):
        for i in range(2):
            block, stride = "layer%d.%d." % (layer, i), 2 if layer > 1 and i == 0 else 1
            y = sides.relu(batch_norm(state, block + "bn1", conv(block + "conv1", x, stride)))
            y = batch_norm(state, block + "bn2", conv(block + "conv2", y, 1))
            if block + "downsample.0.weight" in state:
                x = batch_norm(state, block + "downsample.1", conv(block + "downsample.0", x, stride))
            x = sides.relu(y + x)
    return x.mean((2, 3))


def vgg(net, state, x, sides):
    """VGG13, configuration B of Simonyan and Zisserman 2015; names are torchvision's."""
    x, index = x.reshape(-1, net["channels"], net["height"], net["width"]), 0
    for convs in (2, 2, 2, 2, 2):
        for _ in range(convs):
            name = "features.%d." % index
            x = F.conv2d(x, state[name + "weight"], state[name + "bias"], 1, 1)
            index += 1
            if net["kind"] == "vgg13-bn":
                x = batch_norm(state, "features.%d" % index, x)
                index += 1
            x = sides.relu(x)
            index += 1
        x = sides.max_pool(x, 2, 2, 0)
        index += 1
    return x.mean((2, 3))


NETS = {"mlp": mlp, "resnet18": resnet, "resnet18-adapt": resnet, "vgg13": vgg, "vgg13-bn": vgg}


def forward(meta, state, x, sides):
    """Logits and features in training mode; state's running statistics are updated in place."""
    features = NETS[meta["net"]["kind"]](meta["net"], state, x, sides)
    return F.linear(features, state["fc.weight"], state.get("fc.bias")), features
