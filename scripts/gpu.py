#!/usr/bin/env python3
"""Measures models on a GPU and compares with the same rows on the processor, and calls the callbacks from the libraries themselves.

    scripts/gpu.py COLLAPSE_BINARY [DEVICE]

needs a Python with PyTorch; what also needs torchvision, timm, lightning or transformers says so where that is missing. Everything is made
here: no data set and no network is read. A line for each check; exits with 1 if one fails. `collapse engine check --device cuda:0` checks
training.
"""
import importlib.util
import os
import sys
import tempfile
import traceback

import numpy as np
import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import collapse
import collapse.callbacks

COMPARED = ("nc1_pinv", "cdnv", "nc2_means_etf_centred", "nc3_gram", "accuracy", "nc4_ncc_mismatch")


def rows(n=3000, d=64, k=10):
    g = torch.Generator().manual_seed(0)
    y = torch.arange(n) % k
    return torch.randn(k, d, generator=g)[y] + 0.3 * torch.randn(n, d, generator=g), y, torch.randn(k, d, generator=g), torch.randn(k, generator=g)


def same(a, b, tolerance, keys=COMPARED):
    """The largest relative difference of the measures; raises where it is above the tolerance."""
    keys = [key for key in keys if key in a.measures and key in b.measures]
    if len(keys) < 2:
        raise AssertionError("only %s can be compared" % keys)
    differences = [abs(a.measures[key] - b.measures[key]) / max(abs(b.measures[key]), 1e-3) for key in keys]
    if not all(d <= tolerance for d in differences):  # NaN neither
        raise AssertionError("differs: %s" % {key: (a.measures[key], b.measures[key]) for key in keys})
    worst = max(differences)
    return "%d measures, largest difference %.1g" % (len(keys), worst)


def tensors(device, folder):
    h, y, w, b = rows()
    said = []
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        here, there = [x.to(dtype) for x in (h, w, b)], [x.to(device, dtype) for x in (h, w, b)]
        said.append("%s: %s" % (str(dtype)[6:], same(collapse.measure(there[0], y.to(device), there[1], there[2]), collapse.measure(here[0], y, here[1], here[2]), 0)))
    return "; ".join(said)


def states(device, folder):
    h, y, w, b = rows()
    on = collapse.measure(h.to(device), y.to(device), w.to(device), b.to(device), keep="states")
    return same(on, collapse.measure(h.double(), y, w.double(), b.double()), 1e-9, ("nc1_pinv", "cdnv", "nc2_means_etf_centred", "nc3_gram"))


def tapped(make, shape, device, folder, tolerance, context=None, prepare=lambda net: net):
    """Captures of a model on the GPU and of a copy on the processor, from the same images."""
    results = []
    for place, where in (("device", device), ("processor", "cpu")):
        torch.manual_seed(0)
        net = prepare(make().eval().to(where))
        x = torch.randn(200, *shape, generator=torch.Generator().manual_seed(1))
        out = os.path.join(folder, place)
        inside = context if context and place == "device" else torch.no_grad
        with torch.no_grad(), inside(), collapse.Tap(net, out) as tap:
            for i in range(0, 200, 50):
                net(x[i:i + 50].to(where))
                tap.labels(torch.arange(i, i + 50) % 10)
        results.append(collapse.measure(out))
    return same(*results, tolerance, ("nc1_pinv", "cdnv", "nc2_means_etf_centred", "nc3_gram"))


def resnet(device, folder):
    import torchvision
    return tapped(lambda: torchvision.models.resnet18(num_classes=10), (3, 64, 64), device, folder, 1e-2)


def resnet_tf32(device, folder):
    import torchvision
    try:
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        return tapped(lambda: torchvision.models.resnet18(num_classes=10), (3, 64, 64), device, folder, 0.02)
    finally:
        torch.set_float32_matmul_precision("highest")


def resnet_autocast(device, folder):
    import torchvision
    return tapped(lambda: torchvision.models.resnet18(num_classes=10), (3, 64, 64), device, folder, 0.1, lambda: torch.autocast(device.split(":")[0], torch.bfloat16))


def channels_last(device, folder):
    import torchvision
    return tapped(lambda: torchvision.models.resnet18(num_classes=10), (3, 64, 64), device, folder, 1e-2, prepare=lambda net: net.to(memory_format=torch.channels_last))


def vit(device, folder):
    import timm
    return tapped(lambda: timm.create_model("vit_tiny_patch16_224", num_classes=10), (3, 224, 224), device, folder, 1e-2)


def compiled(device, folder):
    """A compiled model has no hooks to watch; the message says what to run instead."""
    if not hasattr(torch, "compile"):
        return "this torch has no torch.compile"
    try:
        collapse.Tap(torch.compile(nn.Linear(8, 10).to(device)), folder)
    except TypeError as e:
        assert "_orig_mod" in str(e), e
        return "refused, with the call that works"
    raise AssertionError("it was watched")


def layers(device, folder):
    import torchvision
    torch.manual_seed(0)
    net = torchvision.models.resnet18(num_classes=10).to(device)
    batches = [(torch.randn(50, 3, 64, 64, device=device), torch.arange(50) % 10) for _ in range(4)]
    depth = collapse.measure_layers(net, batches, layers=["layer1", "layer4"])
    assert list(depth) == ["layer1", "layer4", "features"] and all(depth[name].n == 200 and depth[name].nc1_pinv > 0 for name in depth)
    assert abs(depth["layer4"].nc1_pinv - depth["features"].nc1_pinv) <= 1e-3 * depth["features"].nc1_pinv  # its mean over space is the classifier's input
    return ", ".join("%s NC1 %.3g" % (name, depth[name].nc1_pinv) for name in depth)


def plain_loop(device, folder):
    net, loader = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3)).to(device), [(torch.randn(60, 5), torch.arange(60) % 3)]
    result = collapse.callbacks.Meter(loader, folder)(net, 1)
    same(result, collapse.callbacks.Meter(loader)(net.cpu(), 1), 1e-4)
    return "NC1 %.3g from a loader on the processor" % result.nc1_pinv


def lightning(device, folder):
    import lightning.pytorch as pl
    from collapse.callbacks.lightning import CollapseCallback

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4))

        def forward(self, x):
            return self.net(x)

        def training_step(self, batch, _):
            return nn.functional.cross_entropy(self(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    g = torch.Generator().manual_seed(0)
    y = torch.arange(400) % 4
    x = torch.randn(4, 20, generator=g)[y] + 0.3 * torch.randn(400, 20, generator=g)
    callback = CollapseCallback(os.path.join(folder, "history"))
    trainer = pl.Trainer(max_epochs=3, accelerator="cpu" if device == "cpu" else "gpu", devices=1, callbacks=[callback], logger=pl.loggers.CSVLogger(folder),
                         enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False, log_every_n_steps=1)
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 50, shuffle=True))
    epochs, nc1 = callback.history.curve("train/nc1_pinv")
    assert epochs == [1, 2, 3], epochs
    logged = float(trainer.callback_metrics["collapse/nc1_pinv"])
    assert abs(logged - nc1[-1]) <= 1e-6 * nc1[-1], (logged, nc1)
    return "lightning %s: NC1 %s; its logger has the last one" % (pl.__version__, ", ".join("%.3g" % v for v in nc1))


def hugging_face(device, folder):
    import transformers
    from collapse.callbacks.huggingface import CollapseCallback
    said = []
    g = torch.Generator().manual_seed(0)
    ids = torch.randint(0, 50, (64, 16), generator=g)
    kinds = {"GPT-2": (transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=2)), ids),
             "BERT": (transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                                                                         intermediate_size=64, num_labels=4)), torch.arange(64) % 4)}
    for name, (net, labels) in kinds.items():
        data = [{"input_ids": i, "attention_mask": torch.ones_like(i), "labels": l} for i, l in zip(ids, labels)]
        callback = CollapseCallback(os.path.join(folder, name))
        args = transformers.TrainingArguments(os.path.join(folder, "out"), num_train_epochs=2, per_device_train_batch_size=16, report_to=[], save_strategy="no",
                                              disable_tqdm=True, use_cpu=device == "cpu")
        transformers.Trainer(net, args, train_dataset=data, callbacks=[callback]).train()
        epochs, within = callback.history.curve("train/trace_within")
        assert epochs == [1, 2] and all(v > 0 for v in within), (epochs, within)
        said.append("%s: trace of Σ_W %s" % (name, ", ".join("%.3g" % v for v in within)))
    return "transformers %s, %s" % (transformers.__version__, "; ".join(said))


def too_large(device, folder):
    """A tensor of more than half of the device's memory is summed there instead of copied."""
    free = torch.cuda.mem_get_info(device)[0]
    h, y = torch.ones((4_000_000, 512), device=device), torch.arange(4_000_000, device=device) % 10
    h[:, :16] += torch.nn.functional.one_hot(y, 16)
    h[:, 16] += torch.arange(4_000_000, device=device) % 7
    result = collapse.measure(h, y, keep="states")
    peak = torch.cuda.max_memory_allocated(device)
    assert result.n == len(h) and abs(result.trace_within - 4) < 1e-3 and peak < 1.25 * h.numel() * 4, (result.n, result.trace_within, peak)  # 4: the variance of 0 to 6
    return "4,000,000 × 512 float32: n = %d, at most %.1f of %.0f GB on the device" % (result.n, peak / 1e9, free / 1e9)


CHECKS = {"tensors": (tensors, ()), "states": (states, ()), "torchvision's ResNet18": (resnet, ("torchvision",)), "in channels_last": (channels_last, ("torchvision",)),
          "in TF32": (resnet_tf32, ("torchvision",)), "under autocast to bfloat16": (resnet_autocast, ("torchvision",)), "timm's ViT": (vit, ("timm",)),
          "a compiled model": (compiled, ()), "layer by layer": (layers, ("torchvision",)), "any loop": (plain_loop, ()), "Lightning": (lightning, ("lightning",)),
          "Hugging Face Trainer": (hugging_face, ("transformers",)), "two billion numbers": (too_large, ())}


def main(binary, device="cuda:0"):
    os.environ["COLLAPSE_BINARY"] = os.path.abspath(binary)
    print("torch %s, numpy %s, %s" % (torch.__version__, np.__version__, torch.cuda.get_device_name(device) if device != "cpu" else "processor"))
    failed = 0
    for name, (check, needs) in CHECKS.items():
        missing = [m for m in needs if not importlib.util.find_spec(m)]
        if missing or check is too_large and device == "cpu":
            print("%s: not run, %s" % (name, "without " + ", ".join(missing) if missing else "on a processor"))
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                print("%s: %s" % (name, check(device, folder)), flush=True)
            except Exception:
                failed += 1
                print("%s: FAILED\n%s" % (name, traceback.format_exc()), flush=True)
    collapse.close()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
