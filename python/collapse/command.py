"""Calls `collapse measure` on a capture and returns its answer as a dict."""

import glob
import json
import os
import shutil
import subprocess
import urllib.parse

import numpy as np

from ._program import bundled
from .folders import CORRUPTED, FEATURES, INFO_FILE, LABELS, LAYERS, STATE, TRUE_LABELS, layer_stream
from .rows import same_weights


class MeasureError(RuntimeError):
    """`collapse measure` failed. exit_code is its exit status, stderr its error output."""

    def __init__(self, message, exit_code=None, stderr=""):
        super().__init__(message)
        self.exit_code, self.stderr = exit_code, stderr


def measure(folder, *, test=None, ood=None, layer=None, binary=None, arguments=(), partial=False):
    """Every collapse measure of a capture, as `collapse measure --json` prints them:
    {"n", "d", "k", "class_counts", "measures": {...}, "missing": {...}, "per_class", "conventions"}.

    folder     a folder that a Tap has written.
    test       folder of a capture of test samples: dilation, test accuracy, memorization.
    ood        folder of a capture of out-of-distribution samples: NC5.
    layer      a name of the Tap's `layers` instead of the classifier's input; the classifier is left out,
               since its weights belong to its own input. A capture of one layer alone needs none.
    binary     path of the program; otherwise $COLLAPSE_BINARY, otherwise the one of the wheel, otherwise `collapse` on PATH.
    arguments  more flags, as on the command line, for example ["--measures", "all"].
    partial    True to accept a capture that was ended by an exception.

    For a capture with keep="states" it returns what one pass over the samples can give; test and ood need features.

    Raises ValueError if test or ood holds another classifier than folder, and so belongs to another model or epoch.
    """
    if (test is not None or ood is not None) and _holds_states(capture_info(folder, partial)):
        raise ValueError("collapse: the capture %r holds states, and measures of test or out-of-distribution samples need the features of "
                         "the train samples; capture with keep='features'" % os.fspath(folder))
    layer = _only_layer(folder, partial) if layer is None else layer
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
    return call(command + list(arguments))


def judge(study, *, lab="lab", binary=None):
    """The verdicts on a study's claims by its finished runs, as `collapse study judge --json` prints them:
    {"study", "runs", "of", "claims": [{"id", "statement", "verdict", "reason", "effect", ...}]}.

    study    a study's name, or its file: the claims are those of the file then.
    lab      the folder of the lab.

    Raises MeasureError if the lab has no such study, or a claim is wrong.
    """
    return call([find_binary(binary), "--lab", os.fspath(lab), "--json", "study", "judge", os.fspath(study)])


def _only_layer(folder, partial):
    """The layer of a capture without the classifier's input, if there is one only; None if the input is there."""
    streams = capture_info(folder, partial)["streams"]
    layers = [urllib.parse.unquote(s[len(LAYERS) + 1:]) for s in streams if s.startswith(LAYERS + "/")]
    if FEATURES in streams or not layers:
        return None
    if len(layers) > 1:
        raise ValueError("collapse: the capture %r has no classifier's input, and several layers; say which: layer=%s"
                         % (os.fspath(folder), " or layer=".join(repr(name) for name in layers[:8])))
    return layers[0]


def capture_info(folder, partial=False):
    """The content of FOLDER/tap.json. Raises FileNotFoundError or ValueError if the capture did not end successfully."""
    folder = os.fspath(folder)
    try:
        with open(os.path.join(folder, INFO_FILE)) as f:
            info = json.load(f)
    except FileNotFoundError:
        if not os.path.lexists(folder):
            raise FileNotFoundError("collapse: there is no file or folder %r, or the `with` block of its Tap has not ended" % folder) from None
        raise FileNotFoundError("collapse: %r has no %s: it is not the folder of a Tap, or its `with` block has not ended"
                                % (folder, INFO_FILE)) from None
    if not info["complete"] and not partial:
        raise ValueError("collapse: the capture %r ended early after %d samples (%s); capture again, or pass partial=True"
                         % (folder, info["samples"], info["error"]))
    if info["samples"] == 0:
        raise ValueError("collapse: the capture %r holds no samples" % folder)
    return info


def capture_flags(folder, layer=None, partial=False):
    """The flags of `collapse measure` that name a capture's files."""
    info = capture_info(folder, partial)
    if _holds_states(info):
        return ["--merge", _state(folder, info, _stream(layer))] + _classifier_flags(folder, info, layer)
    if LABELS not in info["streams"]:
        raise ValueError("collapse: the capture %r has no labels; one without labels can only be `ood`" % os.fspath(folder))
    flags = ["--features", _shards(folder, info, _stream(layer)), "--labels", _shards(folder, info, LABELS)]
    flags += _classifier_flags(folder, info, layer)
    for stream, flag in ((TRUE_LABELS, "--true-labels"), (CORRUPTED, "--corrupted")):
        if stream in info["streams"]:
            flags += [flag, _shards(folder, info, stream)]
    return flags


def _classifier_flags(folder, info, layer):
    if layer is not None or info["classifier"] is None:
        return []
    flags = ["--weights", os.path.join(os.fspath(folder), "weight.npy")]
    return flags + (["--bias", os.path.join(os.fspath(folder), "bias.npy")] if info["bias"] else [])


def find_binary(binary=None):
    """The path of the `collapse` program: the argument, else $COLLAPSE_BINARY, else the one of this package's wheel, else PATH."""
    for path, source in ((binary, "the argument binary"), (os.environ.get("COLLAPSE_BINARY"), "COLLAPSE_BINARY")):
        if path:
            path = os.fspath(path)
            if not (os.path.isfile(path) and os.access(path, os.X_OK)):
                raise FileNotFoundError("collapse: %s is %r, which is not a program that can be run" % (source, path))
            return path
    path = bundled() or shutil.which("collapse")
    if path is None:
        raise FileNotFoundError("collapse: the program `collapse` was not found on PATH; build it (go build ./cmd/collapse) and "
                                "pass binary=... or set COLLAPSE_BINARY, or install the package with the program in it (pip install ./python)")
    return path


def _refuse_other_model(folder, other, partial):
    one, two = _classifier(folder, partial), _classifier(other, partial)
    if one and two and not (one.keys() == two.keys() and all(same_weights(one[name], two[name]) for name in one)):
        raise ValueError("collapse: the captures %r and %r hold different classifiers, so that they are of different models or epochs; "
                         "capture both with one model" % (os.fspath(folder), os.fspath(other)))


def _classifier(folder, partial):
    """{"weight.npy": W, "bias.npy": b} of a capture, without the bias if it has none; empty without a classifier."""
    info = capture_info(folder, partial)
    names = [] if info["classifier"] is None else ["weight.npy", "bias.npy"] if info["bias"] else ["weight.npy"]
    return {name: np.load(os.path.join(os.fspath(folder), name), mmap_mode="r") for name in names}


def _stream(layer):
    return FEATURES if layer is None else layer_stream(layer)


def _holds_states(info):
    return info.get("keep") == "states"


def _state(folder, info, stream):
    _refuse_missing(folder, info, stream)
    return os.path.join(os.fspath(folder), *stream.split("/")) + STATE


def _shards(folder, info, stream):
    if _holds_states(info):
        raise ValueError("collapse: the capture %r holds states, which keep no samples; capture test and out-of-distribution samples with "
                         "keep='features'" % os.fspath(folder))
    _refuse_missing(folder, info, stream)
    # A * or [ in the folder's own name must not act as a pattern.
    return os.path.join(glob.escape(os.fspath(folder)), *stream.split("/"), "*.npy")


def _refuse_missing(folder, info, stream):
    if stream not in info["streams"]:
        raise ValueError("collapse: the capture %r has no %r; it has %s" % (os.fspath(folder), stream, sorted(info["streams"])))


def call(command):
    """The document that the program prints when called."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise MeasureError("collapse: `%s` failed with exit status %d:\n%s"
                           % (" ".join(command), done.returncode, done.stderr.strip() or "(it said nothing)"), done.returncode, done.stderr)
    try:
        return json.loads(done.stdout)
    except ValueError as e:
        raise MeasureError("collapse: `%s` did not answer with one JSON document: %s; it began with %r"
                           % (" ".join(command), e, done.stdout[:80]), 0, done.stderr) from None
