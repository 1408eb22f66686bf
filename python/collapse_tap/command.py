"""Calls `collapse measure` on a capture and returns its answer as a dict."""

import glob
import json
import os
import shutil
import subprocess

import numpy as np

from .folders import CORRUPTED, FEATURES, INFO_FILE, LABELS, TRUE_LABELS
from .rows import same_weights
from .tap import layer_stream


class MeasureError(RuntimeError):
    """`collapse measure` failed. exit_code is its status, stderr what it said."""

    def __init__(self, message, exit_code=None, stderr=""):
        super().__init__(message)
        self.exit_code, self.stderr = exit_code, stderr


def measure(folder, *, test=None, ood=None, layer=None, binary=None, arguments=(), partial=False):
    """Every collapse measure of a capture, as `collapse measure --json` gives them:
    {"n", "d", "k", "class_counts", "measures": {...}, "missing": {...}, "per_class", "conventions"}.

    folder     what a Tap has written.
    test       folder of a capture of test samples: dilation, test accuracy, memorization.
    ood        folder of a capture of out-of-distribution samples: NC5.
    layer      a name of the Tap's `layers` instead of the classifier's input; the classifier is left out,
               since its weights belong to its own input.
    binary     path of the program; otherwise $COLLAPSE_BINARY, otherwise `collapse` on PATH.
    arguments  more flags, as on the command line, for example ["--measures", "all"].
    partial    True to accept a capture that an exception ended.

    Raises ValueError if test or ood holds another classifier than folder: they are of another model, or another epoch.
    """
    command = [find_binary(binary), "measure", "--json"]
    command += capture_flags(folder, layer, partial)
    for other in (test, ood):
        if other is not None:
            _refuse_other_model(folder, other, partial)
    if test is not None:
        info = capture_info(test, partial)
        command += ["--test-features", _shards(test, info, _stream(layer)), "--test-labels", _shards(test, info, LABELS)]
    if ood is not None:
        command += ["--ood", _shards(ood, capture_info(ood, partial), _stream(layer))]
    return _run(command + list(arguments))


def capture_info(folder, partial=False):
    """What FOLDER/tap.json says. Raises FileNotFoundError or ValueError if the capture did not end well."""
    folder = os.fspath(folder)
    try:
        with open(os.path.join(folder, INFO_FILE)) as f:
            info = json.load(f)
    except FileNotFoundError:
        raise FileNotFoundError("collapse_tap: %r has no %s: it is not the folder of a Tap, or its `with` block has not ended"
                                % (folder, INFO_FILE)) from None
    if not info["complete"] and not partial:
        raise ValueError("collapse_tap: the capture %r ended early after %d samples (%s); capture again, or pass partial=True"
                         % (folder, info["samples"], info["error"]))
    if info["samples"] == 0:
        raise ValueError("collapse_tap: the capture %r holds no samples" % folder)
    return info


def capture_flags(folder, layer=None, partial=False):
    """The flags of `collapse measure` that name a capture's files."""
    info = capture_info(folder, partial)
    if LABELS not in info["streams"]:
        raise ValueError("collapse_tap: the capture %r has no labels; one without labels can only be `ood`" % os.fspath(folder))
    flags = ["--features", _shards(folder, info, _stream(layer)), "--labels", _shards(folder, info, LABELS)]
    if layer is None and info["classifier"] is not None:
        flags += ["--weights", os.path.join(os.fspath(folder), "weight.npy")]
        if info["bias"]:
            flags += ["--bias", os.path.join(os.fspath(folder), "bias.npy")]
    for stream, flag in ((TRUE_LABELS, "--true-labels"), (CORRUPTED, "--corrupted")):
        if stream in info["streams"]:
            flags += [flag, _shards(folder, info, stream)]
    return flags


def find_binary(binary=None):
    """The path of the `collapse` program: the argument, else $COLLAPSE_BINARY, else PATH."""
    for path, source in ((binary, "the argument binary"), (os.environ.get("COLLAPSE_BINARY"), "COLLAPSE_BINARY")):
        if path:
            path = os.fspath(path)
            if not (os.path.isfile(path) and os.access(path, os.X_OK)):
                raise FileNotFoundError("collapse_tap: %s is %r, which is not a program that can be run" % (source, path))
            return path
    path = shutil.which("collapse")
    if path is None:
        raise FileNotFoundError("collapse_tap: the program `collapse` was not found on PATH; build it (go build ./cmd/collapse) and "
                                "pass binary=..., or set COLLAPSE_BINARY")
    return path


def _refuse_other_model(folder, other, partial):
    one, two = _classifier(folder, partial), _classifier(other, partial)
    if one and two and not (one.keys() == two.keys() and all(same_weights(one[name], two[name]) for name in one)):
        raise ValueError("collapse_tap: the captures %r and %r hold different classifiers, so that they are of different models or epochs; "
                         "capture both with one model" % (os.fspath(folder), os.fspath(other)))


def _classifier(folder, partial):
    """{"weight.npy": W, "bias.npy": b} of a capture, without the bias if it has none; empty without a classifier."""
    info = capture_info(folder, partial)
    names = [] if info["classifier"] is None else ["weight.npy", "bias.npy"] if info["bias"] else ["weight.npy"]
    return {name: np.load(os.path.join(os.fspath(folder), name), mmap_mode="r") for name in names}


def _stream(layer):
    return FEATURES if layer is None else layer_stream(layer)


def _shards(folder, info, stream):
    if stream not in info["streams"]:
        raise ValueError("collapse_tap: the capture %r has no %r; it has %s" % (os.fspath(folder), stream, sorted(info["streams"])))
    # A folder's own * or [ must not act as a pattern.
    return os.path.join(glob.escape(os.fspath(folder)), *stream.split("/"), "*.npy")


def _run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise MeasureError("collapse_tap: `%s` failed with exit status %d:\n%s"
                           % (" ".join(command), done.returncode, done.stderr.strip() or "(it said nothing)"), done.returncode, done.stderr)
    try:
        return json.loads(done.stdout)
    except ValueError as e:
        raise MeasureError("collapse_tap: `%s` did not answer with one JSON document: %s; it began with %r"
                           % (" ".join(command), e, done.stdout[:80]), 0, done.stderr) from None
