"""Hooks that take features from a PyTorch model while the user's own loop runs."""

import json
import os
import urllib.parse
import warnings

import numpy as np

from .shards import ShardWriter

INFO_FILE = "tap.json"
FEATURES, LABELS, TRUE_LABELS, CORRUPTED = "features", "labels", "true_labels", "corrupted"


class Tap:
    """Writes features and labels of every batch that runs inside its `with` block.

        with Tap(model, "out/features", layers=["layer3", "layer4"]) as tap:
            for x, y in loader:
                model(x)
                tap.labels(y)

    What is written is described in FOLDER/tap.json:
        features/*.npy       the classifier's input, what the papers call last-layer features
        layers/NAME/*.npy    the output of each module of `layers`
        labels/*.npy         int64, one label a sample
        weight.npy, bias.npy the classifier's parameters when the block ends

    Values are float32 (float64 where the model computes in it; float16 and bfloat16 are widened, which
    is exact). At most one batch is held in memory. Hooks are removed when the block ends, also after
    an exception; the capture is then marked incomplete.

    model       any torch.nn.Module on any device. Put it in eval mode first, as the papers do.
    folder      new or empty: one capture, one folder.
    classifier  name of the last linear module; "auto" is the last nn.Linear of model.named_modules();
                None takes `layers` only.
    layers      names of modules, as in model.named_modules(), whose outputs are taken as well.
    pool        how an output with more than two axes becomes one row a sample: "mean" over the spatial
                axes of (N, C, H, W) or (N, C, D, H, W); "flatten"; "tokens", the mean over axis 1 of
                (N, T, C); or a function from what the module takes or gives to a tensor (N, width).
    labelled    False for data without labels, such as out-of-distribution samples.
    shard_bytes size at which a file ends and the next begins.
    """

    def __init__(self, model, folder, *, classifier="auto", layers=(), pool="mean", labelled=True, shard_bytes=64 << 20):
        if type(model).__name__ == "DataParallel":
            raise TypeError("collapse_tap: nn.DataParallel runs copies of the model in threads, and hooks would mix their "
                            "batches; tap model.module and run that")
        if isinstance(layers, str):
            raise TypeError("collapse_tap: layers is the string %r; it must be a list: [%r]" % (layers, layers))
        if not callable(pool) and pool not in ("mean", "flatten", "tokens"):
            raise ValueError("collapse_tap: pool is %r; it must be 'mean', 'flatten', 'tokens' or a function" % (pool,))
        modules = dict(model.named_modules())
        self._model, self._pool, self._labelled = model, pool, labelled
        self._classifier_name = _last_linear(modules) if classifier == "auto" else classifier
        self._sources = {}  # stream -> (module, its name, True if its input is taken)
        if self._classifier_name is not None:
            self._sources[FEATURES] = (_module(modules, self._classifier_name), self._classifier_name, True)
        for name in layers:
            self._sources[layer_stream(name)] = (_module(modules, name), name, False)
        if not self._sources:
            raise ValueError("collapse_tap: there is nothing to take: classifier is None and layers is empty")
        self._folder, self._shard_bytes = os.fspath(folder), shard_bytes
        self._writer, self._hooks = None, []
        self._pending = {}  # stream -> rows of the batch that waits for its labels
        self._modes = set()

    def __enter__(self):
        self._writer = ShardWriter(self._folder, self._shard_bytes)
        # The model's own hooks come first: they must see a new batch before its layers do.
        self._hooks = [self._model.register_forward_pre_hook(self._batch_begins)]
        for stream, (module, name, takes_input) in self._sources.items():
            take = self._taker(stream, name)
            if takes_input:
                hook = module.register_forward_pre_hook(lambda module, inputs, take=take: take(inputs))
            else:
                hook = module.register_forward_hook(lambda module, inputs, output, take=take: take(output))
            self._hooks.append(hook)
        if not self._labelled:
            self._hooks.append(self._model.register_forward_hook(lambda module, inputs, output: self._write({})))
        return self

    def labels(self, y, *, true=None, corrupted=None):
        """Pairs the batch that just ran with its labels, and writes both.

        y: integers (N), as a tensor, an array or a list; what the model is trained on.
        true: the labels before noise; corrupted: True where a label was redrawn. Both are for
        memorization measures, and are given for every batch or for none.
        """
        if self._writer is None:
            raise RuntimeError("collapse_tap: labels was called outside the `with` block")
        if not self._labelled:
            raise RuntimeError("collapse_tap: labels was called on a Tap with labelled=False")
        if not self._pending:
            raise RuntimeError("collapse_tap: labels was called, but no batch ran since the last call; run model(x) first, "
                               "once for each call of labels")
        extra = {LABELS: _integers(y, "labels")}
        if true is not None:
            extra[TRUE_LABELS] = _integers(true, "true labels")
        if corrupted is not None:
            extra[CORRUPTED] = _integers(corrupted, "corrupted").astype(bool)
        self._write(extra)

    def __exit__(self, kind, error, trace):
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        writer, self._writer = self._writer, None
        writer.close()
        complaint = None
        if kind is None and self._pending:
            complaint = "the last batch has no labels; call tap.labels(y) after each model(x)"
        elif kind is None and writer.samples == 0:
            complaint = "no batch ran inside the `with` block; run the model itself, not a compiled or scripted copy of it"
        self._pending = {}
        bias = self._save_classifier()
        self._save_info(writer, bias, kind.__name__ if kind else complaint)
        if complaint:
            raise ValueError("collapse_tap: " + complaint)
        return False

    def _batch_begins(self, module, inputs):
        """Runs before each forward pass of the model."""
        if module.training and True not in self._modes:
            warnings.warn("collapse_tap: the model is in training mode: batch norm and dropout act on the features, and the "
                          "weights may change between batches; call model.eval() first", stacklevel=4)
        self._modes.add(bool(module.training))
        if self._pending and set(self._pending) == set(self._sources):
            raise RuntimeError("collapse_tap: the model ran twice without labels; call tap.labels(y) after each model(x), "
                               "or use Tap(..., labelled=False)")
        self._pending = {}  # what a forward pass left that failed half-way

    def _taker(self, stream, name):
        def take(value):
            if stream in self._pending:
                raise RuntimeError("collapse_tap: module %r ran twice before tap.labels(y); only a module that runs once a "
                                   "batch can be tapped" % name)
            self._pending[stream] = rows_of(value, self._pool, name)
        return take

    def _write(self, extra):
        batch, self._pending = self._pending, {}
        for stream, (_, name, _) in self._sources.items():
            if stream not in batch:
                raise RuntimeError("collapse_tap: module %r did not run in this batch" % name)
        rows = {len(array) for array in batch.values()}
        for name, array in extra.items():
            if {len(array)} != rows:
                raise ValueError("collapse_tap: %d %s for a batch of %s samples" % (len(array), name.replace("_", " "), sorted(rows)))
        self._writer.append({**batch, **extra})

    def _save_classifier(self):
        """Writes weight.npy and bias.npy; returns whether there is a bias, None without classifier."""
        if self._classifier_name is None:
            return None
        module = self._sources[FEATURES][0]
        np.save(os.path.join(self._folder, "weight.npy"), to_numpy(module.weight))
        if module.bias is None:
            return False
        np.save(os.path.join(self._folder, "bias.npy"), to_numpy(module.bias))
        return True

    def _save_info(self, writer, bias, error):
        """Writes tap.json, last and in one piece: a capture without it did not end."""
        info = {
            "format": "collapse_tap 1",
            "complete": error is None,
            "error": error,
            "samples": writer.samples,
            "shards": writer.shards,
            "classifier": self._classifier_name,
            "bias": bias,
            "mode": {frozenset(): None, frozenset([True]): "train", frozenset([False]): "eval"}.get(frozenset(self._modes), "mixed"),
            "pool": getattr(self._pool, "__name__", repr(self._pool)) if callable(self._pool) else self._pool,
            "streams": {name: self._describe(name, dtype, shape) for name, (dtype, shape) in writer.streams.items()},
        }
        path = os.path.join(self._folder, INFO_FILE)
        with open(path + ".part", "w") as f:
            json.dump(info, f, indent=1)
            f.write("\n")
        os.replace(path + ".part", path)

    def _describe(self, stream, dtype, shape):
        entry = {"dtype": dtype.str, "width": shape[0] if shape else None}
        if stream in self._sources:
            _, entry["module"], takes_input = self._sources[stream]
            entry["side"] = "input" if takes_input else "output"
        return entry


def layer_stream(name):
    """Where a layer's output is kept. Names may hold characters that file names may not."""
    return "layers/" + (urllib.parse.quote(name, safe="") or "model")


def rows_of(value, pool, name):
    """One row a sample, as a numpy array that shares no memory with the model.

    The copy matters: the next layer may work in place (ReLU(inplace=True)) before the batch is written.
    """
    if callable(pool):
        value = pool(value[0] if isinstance(value, tuple) and len(value) == 1 else value)
    elif isinstance(value, tuple) and len(value) == 1:
        value = value[0]  # the positional arguments of a module that takes one
    if not hasattr(value, "detach"):
        raise TypeError("collapse_tap: module %r takes or gives a %s, not one tensor; pass pool=function to pick the tensor "
                        "(arguments given by keyword cannot be tapped)" % (name, type(value).__name__))
    if not value.is_floating_point():
        raise TypeError("collapse_tap: module %r takes or gives %s; features must be floating point" % (name, value.dtype))
    value = value.detach()
    if str(value.dtype) != "torch.float64":
        value = value.float()  # numpy has no bfloat16, and means of float16 would lose digits
    if not callable(pool):
        value = _pooled(value, pool, name)
    if value.dim() != 2:
        raise ValueError("collapse_tap: module %r gives rows of shape %s; one row a sample, (N, width), is wanted"
                         % (name, tuple(value.shape)))
    return np.array(value.cpu().numpy(), order="C", copy=True)


def _pooled(value, pool, name):
    axes = value.dim()
    if axes == 2:
        return value
    if pool == "flatten" and axes > 2:
        return value.flatten(1)
    if pool == "tokens" and axes == 3:
        return value.mean(1)
    if pool == "mean" and axes in (4, 5):
        return value.flatten(2).mean(2)
    raise ValueError("collapse_tap: module %r has shape %s, which pool=%r does not cover; use 'mean' for (N, C, H, W), 'tokens' "
                     "for (N, T, C), 'flatten', or a function such as lambda t: t[:, 0]" % (name, tuple(value.shape), pool))


def to_numpy(tensor):
    tensor = tensor.detach()
    return (tensor if str(tensor.dtype) == "torch.float64" else tensor.float()).cpu().numpy()


def _integers(values, what):
    """int64 (N) from a tensor, an array or a list of integers."""
    array = np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError("collapse_tap: %s have shape %s; one integer a sample is wanted (for one-hot rows: y.argmax(1))"
                         % (what, array.shape))
    if array.dtype.kind not in "biu":
        raise TypeError("collapse_tap: %s are %s; integers are wanted" % (what, array.dtype))
    return array.astype(np.int64)


def _module(modules, name):
    if name in modules:
        return modules[name]
    import difflib
    near = difflib.get_close_matches(str(name), modules, n=3) or [n for n in modules if n][:8]
    raise ValueError("collapse_tap: the model has no module %r; near or first names: %s" % (name, ", ".join(map(repr, near))))


def _last_linear(modules):
    import torch
    names = [name for name, module in modules.items() if isinstance(module, torch.nn.Linear)]
    if not names:
        raise ValueError("collapse_tap: the model has no nn.Linear; name the classifier (classifier='...'), or classifier=None "
                         "with layers=[...]")
    return names[-1]
