"""Inputs of kinds that once failed, three or more of each kind: `collapse measure` gives numpy's NC1, or refuses in words that say what to do.

usage: COLLAPSE_BINARY=collapse python conformance_siblings.py
"""

import collections
import datetime
import fractions
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import types

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import torch
from safetensors.torch import save_file

BINARY = os.environ.get("COLLAPSE_BINARY", "collapse")
K, N, D = 3, 60, 4
WORDS = np.array(["cat", "dog", "owl"])


def samples(n=N, k=K, seed=7):
    y = np.arange(n) % k
    return (np.eye(k, D)[y] * 3 + np.random.default_rng(seed).normal(size=(n, D)) * 0.4).astype(np.float32), y


def nc1(h, y):
    """tr(Σ_W Σ_B⁺)/K from its definition, with Σ_W and the global mean over samples and Σ_B over classes."""
    h, classes = np.asarray(h, np.float64), np.unique(y)
    means = np.stack([h[y == k].mean(0) for k in classes])
    within = sum((h[y == k] - m).T @ (h[y == k] - m) for k, m in zip(classes, means)) / len(h)
    apart = means - h.mean(0)
    return np.trace(within @ np.linalg.pinv(apart.T @ apart / len(classes), rcond=1e-10)) / len(classes)


def find(tree, key):
    """The first number called key anywhere in a JSON document; None if there is none."""
    if isinstance(tree, dict) and isinstance(tree.get(key), (int, float)):
        return tree[key]
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        if (found := find(child, key)) is not None:
            return found
    return None


class Siblings:
    """Makes files in a folder, measures them, and counts what is wrong."""

    def __init__(self, folder):
        self.folder, self.kind, self.checked, self.wrong = folder, "", collections.Counter(), []

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, name, arguments, want=None, says=None, accuracy=None):
        """want is NC1; says a pattern of the refusal's words; accuracy what the classifier reaches."""
        arguments = [arguments] if isinstance(arguments, str) else arguments
        ran = subprocess.run([BINARY, "measure", *arguments, "--json"], capture_output=True, text=True)
        self.checked[self.kind] += 1
        if want is None:
            right, got = ran.returncode != 0 and re.search(says, ran.stderr) and "panic" not in ran.stderr, ran.stderr.strip()
        else:
            found = json.loads(ran.stdout) if ran.returncode == 0 else {}
            got = find(found, "nc1_pinv")
            right = got is not None and abs(got - want) <= 1e-6 * want
            right = right and (accuracy is None or abs(find(found, "accuracy") - accuracy) < 1e-9)
            got = got if ran.returncode == 0 else ran.stderr.strip()
        if not right:
            self.wrong.append((self.kind, name))
            print(f"{self.kind}, {name}: wanted {want if want is not None else says}, got {got}")

    def npz(self, name, **arrays):
        np.savez(self.path(name + ".npz"), **arrays)
        return self.path(name + ".npz")

    def mat(self, name, how=None, **arrays):
        scipy.io.savemat(self.path(name + ".mat"), arrays, **(how or {}))
        return self.path(name + ".mat")

    def pt(self, name, value):
        torch.save(value, self.path(name + ".pt"))
        return self.path(name + ".pt")

    def pickled(self, name, value, protocol=4):
        with open(self.path(name + ".pkl"), "wb") as f:
            pickle.dump(value, f, protocol=protocol)
        return self.path(name + ".pkl")

    def parquet(self, name, columns, **how):
        pq.write_table(pa.table(columns), self.path(name + ".parquet"), **how)
        return self.path(name + ".parquet")


def lists(h, kind=None):
    return pa.array([list(map(float, r)) for r in h], pa.list_(kind or pa.float32()))


def heads_of_one_row(s):
    h, y = samples(k=2)
    w, b = np.array([[-1.0, 1, 0, 0]], np.float32), np.zeros(1, np.float32)
    for name, arrays in {
        "1 × d": dict(labels=y, weights=w, bias=b),
        "d": dict(labels=y, weights=w[0], bias=np.float32(0)),
        "−1 and 1": dict(labels=2 * y - 1, weights=w, bias=b),
        "truth values": dict(labels=y.astype(bool), weights=w),
        "floats": dict(labels=y.astype(np.float32)[:, None], weights=w),
    }.items():
        s.check(name, s.npz("head", features=h, **arrays), says="vstack")
    s.check("two rows", s.npz("head", features=h, labels=y, weights=np.vstack([-w, w]) / 2), nc1(h, y))


def transposed(s):
    h, y = samples()
    np.save(s.path("h.npy"), h.T)
    np.save(s.path("y.npy"), y)
    files = {
        "named": s.npz("t", features=h.T, labels=y),
        "npy": [s.path("h.npy"), "--labels", s.path("y.npy")],
        "MATLAB": s.mat("t", X=h.T, y=y),
        "a view": s.pt("t", {"features": torch.from_numpy(h).t(), "labels": torch.from_numpy(y)}),
    }
    for name, file in files.items():
        s.check(name, file, says="--transpose-features")
        s.check(name + ", with the flag", [*([file] if isinstance(file, str) else file), "--transpose-features"], nc1(h, y))


def ignored_labels(s):
    h, y = samples()
    for left_out in (-100, -1, 255):
        own = y.copy()
        own[:6] = left_out
        s.check(str(left_out), [s.npz("ignored", features=h, labels=own), f"--ignore-label={left_out}"], nc1(h[6:], y[6:]))
    own = y.astype(float)
    own[:6] = np.nan
    s.check("NaN", s.npz("ignored", features=h, labels=own), says="NaN|whole")


def matlab(s):
    h, y = samples()
    words = WORDS[y]
    for name, (labels, how) in {
        "a row of bytes": (y[None].astype(np.uint8), {}),
        "a column of doubles": (y[:, None].astype(float), {}),
        "compressed": (y, {"do_compression": True}),
        "version 4": (y, {"format": "4"}),
        "cells of words": (words.astype(object), {}),
        "cells of words, compressed": (words.astype(object), {"do_compression": True}),
        "rows of characters": (words, {}),
        "logical": (y > 0, {}),
    }.items():
        s.check(name, s.mat("m", how, features=h, labels=labels), nc1(h, y > 0 if labels.dtype == bool else y))
    for packed in (False, True):
        how = {"do_compression": packed}
        s.check("in a structure", s.mat("m", how, data={"features": h, "labels": y}), nc1(h, y))
        s.check("in two structures", s.mat("m", how, train={"X": h, "y": words.astype(object)}, test={"X": h, "y": words.astype(object)}), nc1(h, y))
        s.check("in nested structures", s.mat("m", how, data={"net": {"features": h}, "labels": y[:, None] + 1, "none": []}), nc1(h, y))
    s.check("in an array of structures", s.mat("m", data=np.array([{"features": h}, {"features": h}])), says="structure|cell")


def parquet_encodings(s):
    h, y = samples()
    plain = dict(use_dictionary=False)
    for name, (labels, how) in {
        "delta words": (WORDS[y], {"column_encoding": {"label": "DELTA_BYTE_ARRAY"}}),
        "delta lengths": (WORDS[y], {"column_encoding": {"label": "DELTA_LENGTH_BYTE_ARRAY"}}),
        "delta integers": (y, {"column_encoding": {"label": "DELTA_BINARY_PACKED"}}),
        "split bytes, v2": (WORDS[y], {"data_page_version": "2.0", "compression": "none", "column_encoding": {"label": "DELTA_BYTE_ARRAY", "features.list.element": "BYTE_STREAM_SPLIT"}}),
    }.items():
        s.check(name, s.parquet("p", {"features": lists(h), "label": labels}, **plain, **how), nc1(h, y))
    half = h.astype(np.float16)
    s.check("float16 in fixed lists", s.parquet("p", {"features": pa.FixedSizeListArray.from_arrays(pa.array(half.ravel()), D), "label": y}), nc1(half, y))
    s.check("float16 in lists", s.parquet("p", {"features": pa.array([list(r) for r in half], pa.list_(pa.float16())), "label": y}, compression="zstd"), nc1(half, y))
    s.check("float16 columns", [s.parquet("p", {**{f"f{j}": pa.array(half[:, j]) for j in range(D)}, "label": y}), "--features-key", "f*"], nc1(half, y))
    large, labels = samples(180_000)
    for level in (3, 9, 19):
        table = {"features": pa.FixedSizeListArray.from_arrays(pa.array(large.ravel()), D), "label": labels}
        s.check(f"zstd {level}, pages of 8 MiB", s.parquet("p", table, compression="zstd", compression_level=level, data_page_size=8 << 20), nc1(large, labels))


def parquet_writers(s):
    h, y = samples()
    for rows in (777, 2049, 10_001):
        many, labels = samples(rows)
        t = pa.table({"features": lists(many), "label": labels})
        duckdb.sql(f"copy t to '{s.path('d.parquet')}' (format parquet)")
        s.check(f"DuckDB, {rows} rows", s.path("d.parquet"), nc1(many, labels))
    t = pa.table({"features": lists(h), "label": y})
    for packed in ("zstd", "gzip", "brotli", "lz4_raw", "uncompressed"):
        duckdb.sql(f"copy t to '{s.path('d.parquet')}' (format parquet, compression '{packed}')")
        s.check("DuckDB, " + packed, s.path("d.parquet"), nc1(h, y))
    duckdb.sql(f"copy (select features::float[4] as features, label from t) to '{s.path('d.parquet')}' (format parquet, parquet_version v2)")
    s.check("DuckDB, fixed lists", s.path("d.parquet"), nc1(h, y))
    frame = pl.DataFrame({"features": h.tolist(), "label": y})
    for packed in ("lz4", "brotli", "snappy", "gzip", "zstd", "uncompressed"):
        frame.write_parquet(s.path("l.parquet"), compression=packed)
        s.check("Polars, " + packed, s.path("l.parquet"), nc1(h, y))
    frame.write_parquet(s.path("l.parquet"), metadata={"who": "", "long": "x" * 100_000})
    s.check("Polars, key-values", s.path("l.parquet"), nc1(h, y))
    pl.DataFrame({"features": pl.Series(h.tolist(), dtype=pl.Array(pl.Float32, D)), "label": pl.Series(WORDS[y]).cast(pl.Categorical)}).write_parquet(s.path("l.parquet"))
    s.check("Polars, arrays and categories", s.path("l.parquet"), nc1(h, y))
    pd.DataFrame({"features": h.tolist(), "label": pd.array(y, dtype="Int64")}, index=pd.Index(range(5, N + 5), name="id")).to_parquet(s.path("w.parquet"))
    s.check("pandas, an index and Int64", s.path("w.parquet"), nc1(h, y))
    for prefix in ("f", "dim_", "embedding_"):
        pd.DataFrame({**{f"{prefix}{j}": h[:, j] for j in range(D)}, "label": y}).to_parquet(s.path("w.parquet"))
        s.check(f"pandas, {prefix}*", [s.path("w.parquet"), "--features-key", prefix + "*"], nc1(h, y))
    wide = pd.DataFrame({**{str(j): h[:, j] for j in range(D)}, "target": WORDS[y]})
    wide.to_parquet(s.path("w.parquet"))
    s.check("pandas, numbered columns", s.path("w.parquet"), nc1(h, y))
    wide.to_csv(s.path("w.csv"), index=False)
    s.check("pandas, CSV", s.path("w.csv"), nc1(h, y))


class Runs:
    """Would run a command when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, ("touch " + self.path,)


def pickles(s):
    h, y = samples()
    np.save(s.path("y.npy"), y)
    for protocol in (2, 3, 5):
        s.check(f"protocol {protocol}", [s.pickled("p", h, protocol), "--labels", s.path("y.npy")], nc1(h, y))
    s.check("a dict", s.pickled("p", {"features": h, "labels": y.tolist(), "epoch": 3}), nc1(h, y))
    s.check("a tuple", s.pickled("p", (h, y)), nc1(h, y))
    s.check("objects of integers", s.npz("p", features=h, labels=y.astype(object)), nc1(h, y))
    s.check("objects of numbers, two axes", s.npz("p", features=np.array(h.tolist(), dtype=object), labels=y), nc1(np.array(h.tolist()), y))
    s.check("a table of pandas", s.pickled("p", pd.DataFrame({"f0": h[:, 0]})), says="pandas")
    s.check("code beside arrays", s.pickled("p", {"features": h, "labels": y, "x": Runs(s.path("ran"))}), nc1(h, y))
    if os.path.exists(s.path("ran")):
        s.wrong.append((s.kind, "code was run"))


def beside_tensors(s):
    h, y = samples()
    features, labels = torch.from_numpy(h), torch.from_numpy(y)
    for beside in (
        torch.device("cuda:0"), torch.bfloat16, torch.float8_e4m3fn, torch.Size([1, 2]), {1, 2}, b"abc", np.float64(0.9), np.int64(3), np.bool_(True), np.str_("x"), np.arange(3), None, 1 + 2j,
        {"a": [torch.Size([1]), {"b": np.float32(2)}]}, collections.OrderedDict(a=1), collections.defaultdict(list, a=[1]), types.SimpleNamespace(a=1), pathlib.PurePosixPath("/x"),
        datetime.datetime(2020, 1, 1), range(3), slice(1, 2), fractions.Fraction(1, 2), torch.nn.Linear(3, 3), torch.nn.Parameter(features), features.to(torch.float8_e5m2),
    ):  # fmt: skip
        s.check(type(beside).__name__, s.pt("b", {"features": features, "labels": labels, "beside": beside}), nc1(h, y))
    s.check("bfloat16", s.pt("b", {"features": features.bfloat16(), "labels": labels}), nc1(features.bfloat16().float().numpy(), y))
    s.check("labels of uint16", s.pt("b", {"features": features, "labels": labels.to(torch.uint16)}), nc1(h, y))
    s.check("batches in dicts", s.pt("b", [{"features": features[i::2], "labels": labels[i::2]} for i in (0, 1)]), nc1(h, y))
    s.check("a list of rows", s.pt("b", {"features": list(features), "labels": labels}), nc1(h, y))
    s.check("sparse", s.pt("b", {"features": features.to_sparse(), "labels": labels}), says="sparse|features")
    for kind in (torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.bfloat16, torch.uint16):
        save_file({"features": features, "labels": labels, "scale": torch.ones(3).to(kind)}, s.path("b.safetensors"))
        s.check(f"safetensors, {kind}", s.path("b.safetensors"), nc1(h, y))


def sharded(s):
    h, y = samples()
    parts = {"a.safetensors": {"features": torch.from_numpy(h)}, "b.safetensors": {"labels": torch.from_numpy(y)}}

    def index(name, labels_in, files=parts):
        folder = pathlib.Path(s.path(name))
        folder.mkdir(exist_ok=True)
        for file, tensors in files.items():
            save_file(tensors, folder / file)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": {"features": "a.safetensors", "labels": labels_in}}))
        return str(folder / "model.safetensors.index.json")

    s.check("two shards", index("two", "b.safetensors"), nc1(h, y))
    one = {"a.safetensors": parts["a.safetensors"]}
    s.check("a missing shard", index("missing", "b.safetensors", one), says="b.safetensors")
    s.check("a shard elsewhere", index("outside", "../two/b.safetensors", one), says=r"\.\./two|outside|folder")
    s.check("an absolute shard", index("absolute", s.path("two/b.safetensors"), one), says="outside|folder|b.safetensors")


def words_with_a_classifier(s):
    h, y = samples()
    w, words = np.eye(K, D).astype(np.float32), WORDS[y]
    files = {
        "npz": s.npz("w", features=h, labels=words, weights=w),
        "bytes": s.npz("wb", features=h, labels=words.astype("S"), weights=w),
        "objects": s.npz("wo", features=h, labels=words.astype(object), weights=w),
        "a list of numpy's words": s.pt("w", {"features": torch.from_numpy(h), "labels": list(words), "weights": torch.from_numpy(w)}),
        "a list of words": s.pt("wl", {"features": torch.from_numpy(h), "labels": words.tolist(), "weights": torch.from_numpy(w)}),
        "cells of MATLAB": s.mat("w", features=h, labels=words.astype(object), weights=w),
    }
    for name, file in files.items():
        s.check(name, file, says="--class-names")
        s.check(name + ", named", [file, "--class-names", "cat,dog,owl"], nc1(h, y), accuracy=1)
        s.check(name + ", in another order", [file, "--class-names", "dog,cat,owl"], nc1(h, y), accuracy=1 / 3)


KINDS = (heads_of_one_row, transposed, ignored_labels, matlab, parquet_encodings, parquet_writers, pickles, beside_tensors, sharded, words_with_a_classifier)


def main():
    with tempfile.TemporaryDirectory() as folder:
        s = Siblings(folder)
        for kind in KINDS:
            s.kind = kind.__name__.replace("_", " ")
            kind(s)
            print(f"{s.kind}: {s.checked[s.kind]} files, {sum(k == s.kind for k, _ in s.wrong)} wrong")
    print(f"{sum(s.checked.values())} files, {len(s.wrong)} wrong")
    return 1 if s.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
