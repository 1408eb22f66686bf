"""Estimates how much of its device's memory a run takes, before it starts."""

import torch
from torch.nn.modules.batchnorm import _BatchNorm

CONTEXT = {"cuda": 700 << 20, "cpu": 300 << 20, "mps": 300 << 20}  # torch itself on the device, and the workspace of its kernels
SPARE = 1.2  # factor on the activations: what is alive besides what autograd keeps


def saved_bytes(net, shape):
    """Bytes that autograd keeps for one sample of the given shape (C, H, W) between forward and backward pass."""
    kept, weights = {}, {p.data_ptr() for p in net.parameters()}

    def pack(t):
        if t.data_ptr() not in weights:
            kept[t.data_ptr()] = t.numel() * t.element_size()
        return t.detach()  # with its graph, which holds what pack returns, it would keep itself alive for good

    samples = 2  # batch norm has no variance with one sample
    dtype = next(net.parameters()).dtype
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        outputs = net.train()(torch.zeros((samples, *shape), dtype=dtype))
    total = sum(kept.values())
    del outputs
    for module in net.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
    return total // samples


def estimate(run, members, images, optimiser, eager):
    """Bytes of a run, or of an ensemble of members, whose images take some already, and whose optimiser keeps so many copies of the
    weights. Unless it is eager, an epoch keeps a copy of the state."""
    weights = sum(p.numel() * p.element_size() for p in run.model.parameters())
    copies = 2 + optimiser  # values and gradients
    copies += 0 if eager else 1 + optimiser
    batch = run.shape[0] * run.shape[1] * run.shape[2] * 9 + run.per_sample  # indices into the table, pixels
    return int(CONTEXT[run.device.type] + members * copies * weights + images + members * run.batch * batch * SPARE)
