"""Records the linear products of a forward pass: which layer, parameter or expression multiplied what by which weights.

A classifier need not be an nn.Linear: it may be F.linear with another layer's weight, a matrix product, a 1×1 convolution.
All of them pass through torch's function mode, so one place sees them all.
"""

import collections

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

# From the first batch only this many products are kept, the last ones: the classifier is near the output, and the inputs of all
# layers of a large model would not fit into memory.
LATEST = 16


class Product:
    """One product h Wᵀ + b of a forward pass.

    h        (*positions, d): the input as the product read it. positions is (N), (N, T) for tokens, (N, H, W) for images.
    weight   (K, d); bias (K) or None.
    precise  the dtype of the result, which says how the product was rounded; convolution: whether a convolution computed it.
    module   the innermost module that ran, None outside of all.
    finished how many modules had returned when it ran; an index into Recorder.finished.
    """

    def __init__(self, h, weight, bias, result, module, finished):
        self.h, self.weight, self.bias = h.detach(), weight.detach(), None if bias is None else bias.detach()
        self.precise, self.convolution = result.dtype, False
        self.module, self.finished = module, finished

    @property
    def positions(self):
        return tuple(self.h.shape[:-1])

    @property
    def address(self):
        """The memory of the weights; equal for a parameter, its transposed view and layers that share it."""
        try:
            return self.weight.data_ptr()
        except RuntimeError:  # tensors without their own memory
            return None


class Recorder(TorchFunctionMode):
    """Keeps the linear products between begin() and end(). Enter it only once, around everything.

    keep    a predicate on products: those that satisfy it are kept in the first pass, in addition to the last LATEST.
    wanted  None in the first pass; then a predicate on products that says which ones to keep.
    """

    def __init__(self, keep=lambda product: False):
        super().__init__()
        self._keep, self.wanted, self._active = keep, None, False
        self._running, self._hooks = [], []
        self._reset()

    def _reset(self):
        self._latest, self._kept, self._count = collections.deque(maxlen=LATEST), [], 0
        self.finished = []  # (module, shape of its output or None) of the first pass, in the order in which modules returned

    def watch_modules(self):
        """Tracks which module runs. This costs a call per module, so it is done only for the first batch."""
        self._hooks = [register_module_forward_pre_hook(self._module_begins), register_module_forward_hook(self._module_ends)]

    def forget_modules(self):
        for hook in self._hooks:
            hook.remove()
        self._hooks, self._running, self.finished = [], [], []

    def begin(self, model):
        self._reset()
        self._running, self._active = [model], True

    def end(self):
        """The products since begin(), in the order in which they ran."""
        self._active, self._running = False, []
        found = sorted(self._kept + list(self._latest), key=lambda pair: pair[0])
        self._latest, self._kept = collections.deque(maxlen=LATEST), []
        return [product for _, product in found]

    def stop(self):
        """Ends a pass that failed, and frees its tensors."""
        self.end()
        self.forget_modules()

    def _module_begins(self, module, inputs):
        if self._active:
            self._running.append(module)

    def _module_ends(self, module, inputs, output):
        if self._active:
            while self._running and self._running.pop() is not module:
                pass
            single = output.shape if isinstance(output, torch.Tensor) and output.is_floating_point() else None
            self.finished.append((module, single))

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        read = READERS.get(getattr(func, "__name__", None)) if self._active else None
        result = func(*args, **kwargs)
        if read is not None and isinstance(result, torch.Tensor) and result.is_floating_point():
            self._add(read, args, kwargs, result)
        return result

    def _add(self, read, args, kwargs, result):
        try:
            operands = read(*args, **kwargs)
        except (TypeError, AttributeError, IndexError, ValueError):
            return  # called in a way that the reader does not know: not a usable product
        if operands is None:
            return
        module = self._running[-1] if self._running else None
        product = Product(*operands, result, module, len(self.finished))
        product.convolution = read is _conv
        self._count += 1
        if self.wanted is not None:
            if self.wanted(product):
                self._kept.append((self._count, product))
        elif self._keep(product):
            self._kept.append((self._count, product))
        else:
            self._latest.append((self._count, product))


# Readers turn the arguments of a torch function into (h, weight, bias), or None if it is not a linear map of the last axis.


def _linear(input, weight, bias=None):
    return (input, weight, bias) if weight.dim() == 2 else None


def _matmul(input, other, *, out=None):
    if not input.is_floating_point() or input.dim() < 2 or other.dim() not in (1, 2):
        return None
    return input, (other[None] if other.dim() == 1 else other.transpose(0, 1)), None


def _addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    if beta != 1 or alpha != 1 or input.dim() != 1:
        return None
    return mat1, mat2.transpose(0, 1), input


def _einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    inputs, _, output = equation.replace(" ", "").partition("->")
    h, w = inputs.split(",")
    if len(operands) != 2 or len(w) != 2 or "." in w or h[-1] not in w:
        return None
    d = h[-1]
    k = w.replace(d, "", 1)
    if k in h or d in h[:-1] or output != h[:-1] + k:
        return None
    weight = operands[1] if w == k + d else operands[1].transpose(0, 1)
    return operands[0], weight, None


def _conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """A convolution whose kernel is a single pixel, or the whole image."""
    kernel, image = tuple(weight.shape[2:]), tuple(input.shape[2:])
    if groups != 1 or input.dim() != weight.dim() or padding == "same" and set(kernel) != {1}:
        return None
    if padding not in ("same", "valid") and any(_each(padding)):
        return None
    if set(kernel) == {1} and set(_each(stride)) == {1}:
        return input.movedim(1, -1), weight.flatten(1), bias
    if kernel == image and set(_each(dilation)) == {1}:
        return input.flatten(1), weight.flatten(1), bias
    return None


def _each(value):
    return (value,) if isinstance(value, int) else tuple(value)


READERS = {"linear": _linear, "matmul": _matmul, "__matmul__": _matmul, "mm": _matmul, "addmm": _addmm, "einsum": _einsum,
           "conv1d": _conv, "conv2d": _conv, "conv3d": _conv}
