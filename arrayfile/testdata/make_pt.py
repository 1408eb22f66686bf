"""Writes the .pt files of this directory; needs torch. Run it here: python3 make_pt.py

Every file holds the tensors that TestFilesOfTorch expects.
"""

import collections

import torch


def content():
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.arange(p.numel(), dtype=torch.float32).reshape(p.shape))
    return {
        "f4": base, "f8": base.double(), "f2": base.half(), "bf2": base.bfloat16(),
        "i8": base.long(), "i4": base.int(), "i2": base.short(), "i1": base.to(torch.int8), "u1": base.byte(), "bool": base > 11,
        "transposed": base.t(), "sliced": base[1:3, ::2], "offset": base[2], "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 5),
        "permuted": torch.arange(24.).reshape(2, 3, 4).permute(1, 2, 0),
        "model": model.state_dict(), "parameter": torch.nn.Parameter(torch.tensor([1., 2.])),
        "ordered": collections.OrderedDict([("one", torch.tensor([1]))]),
        "labels": [3, 1, 2], "numbers": (0.5, 2), "epoch": 7, "name": "ünïcode", "nothing": None, "yes": True, "big": 1 << 70, "negative": -(1 << 40),
        "nested": [{"a": torch.tensor([5.])}, [torch.tensor([6.])]], "complex": torch.zeros(2, dtype=torch.complex64),
    }


torch.save(content(), "zip.pt")
torch.save(content(), "legacy.pt", _use_new_zipfile_serialization=False)
for protocol in (3, 4, 5):
    torch.save(content(), "protocol%d.pt" % protocol, pickle_protocol=protocol)
torch.save(torch.arange(3.), "lone.pt")
torch.save({"repeated": torch.zeros(1).expand(1000)}, "repeated.pt")
torch.save(torch.nn.Linear(2, 2), "module.pt")
