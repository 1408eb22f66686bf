#!/usr/bin/env python3
"""Writes tables of numbers, lists and words with whatever libraries are installed here, and beside each what a second library reads of it. Test
data inside those libraries, and public collections in folders of COLLAPSE_CONFORMANCE, join them.

    [COLLAPSE_CONFORMANCE=COLLECTIONS] scripts/conformance_files.py DIR [PART…]

TestConformance of arrayfile, with COLLAPSE_CONFORMANCE=DIR, reads each FILE and compares with FILE.want.npz. A file is called WRITER__HOW.SUFFIX.
"""
import glob
import importlib.util
import os
import pickle
import shutil
import sys

import numpy as np

N = 3000


def columns(half=True):
    """Numbers of every type with their extremes, and words."""
    R = np.random.default_rng(11)
    out = {"label": np.arange(N) % 10, "word": np.array(["ant", "bee", "dragonfly with a long name", "ü"])[np.arange(N) % 4], "runs": np.repeat(np.arange(6), N // 6)}
    for bits in (8, 16, 32, 64):
        for kind in ("int", "uint"):
            info = np.iinfo("%s%d" % (kind, bits))
            v = R.integers(info.min, info.max, N, dtype=info.dtype, endpoint=True)
            v[:2] = info.min, info.max
            out["%s%d" % (kind, bits)] = v
    for kind in ("float16", "float32", "float64") if half else ("float32", "float64"):
        v = R.normal(size=N).astype(kind)
        v[:6] = np.inf, -np.inf, np.nan, -0.0, np.finfo(kind).max, np.finfo(kind).tiny
        out[kind] = v
    out["bool"] = R.random(N) < 0.3
    return out


L = np.random.default_rng(12)
LISTS = {"lists32": L.normal(size=(N, 7)).astype("float32"), "lists64": L.normal(size=(N, 2)), "listsint": L.integers(-9, 9, (N, 3))}


def arrow_table(half=True):
    import pyarrow as pa
    table = {k: pa.array(list(v) if v.dtype == "float16" else v) for k, v in columns(half).items()}
    return pa.table(dict(table, **{k: list(v) for k, v in LISTS.items()}))


def frame(half=True):
    import polars
    table = {k: polars.Series(k, v) for k, v in columns(half).items() if v.dtype != "float16"}
    lists = {k: polars.Series(k, list(v), dtype=polars.Array(polars.Series(v[0]).dtype, v.shape[1])) for k, v in LISTS.items()}
    return polars.DataFrame(dict(table, **lists))


def want_of(table):
    """What a table of pyarrow holds, by numpy."""
    out = {}
    for name in table.column_names:
        values = table[name].to_pylist()
        out[name] = np.array(values, dtype=np.float64 if isinstance(values[0], float) else None)
    return out


def by_pyarrow(path):
    import pyarrow.feather, pyarrow.parquet
    return want_of(pyarrow.parquet.read_table(path) if path.endswith(".parquet") else pyarrow.feather.read_table(path) if path.endswith(".feather") else pyarrow.ipc.open_file(path).read_all())


def by_duckdb(path):
    import duckdb
    return want_of(duckdb.sql("SELECT * FROM read_parquet('%s')" % path).to_arrow_table())


def by_polars(path):
    import polars
    return want_of((polars.read_ipc_stream(path) if "stream" in path else polars.read_ipc(path)).to_arrow())


def by_pandas(path):
    import pandas
    table = pandas.read_csv(path, sep="\t" if path.endswith(".tsv") else ",", dtype={"bool": str})
    return {str(name): np.array(table[name].tolist()) for name in table}


def by_scipy(path):
    import scipy.io
    return {k: np.char.rstrip(v) if v.dtype.kind == "U" else v for k, v in scipy.io.loadmat(path).items() if not k.startswith("__")}


def by_safetensors(path):
    import safetensors.numpy
    return safetensors.numpy.load_file(path)


def by_torch(path):
    import torch
    return {k: v.double().numpy() if v.is_floating_point() else v.numpy() for k, v in torch.load(path, weights_only=hasattr(torch, "uint16")).items() if hasattr(v, "numpy")}


def by_numpy(path):
    with np.load(path, allow_pickle=True) as f:
        return {k: f[k].astype(str) if f[k].dtype == object else f[k] for k in f}


def by_pickle(path):
    with open(path, "rb") as f:
        return pickle.load(f)


def by_h5py(path):
    import h5py
    out = {}

    def see(name, x):
        if isinstance(x, h5py.Dataset):
            v = np.array([t.decode() for t in x[...].tolist()]) if x.dtype.kind in "OS" else x[...]
            out[name.replace("/", ".")] = v
    with h5py.File(path) as f:
        f.visititems(see)
    return out


def pyarrow_parquet(write):
    import pyarrow.parquet as pq
    table, numbers = arrow_table(), [k for k in columns() if k != "word" and k != "bool"]
    for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
        for version in ("1.0", "2.0"):
            write("pyarrow__%s_%s.parquet" % (codec, version), lambda p: pq.write_table(table, p, compression=codec, data_page_version=version, data_page_size=4096, row_group_size=1300), by_duckdb)
    write("pyarrow__plain.parquet", lambda p: pq.write_table(table, p, use_dictionary=False), by_duckdb)
    split = dict({k: "BYTE_STREAM_SPLIT" for k in numbers if k in ("float32", "float64", "int32", "int64")}, word="DELTA_BYTE_ARRAY", label="DELTA_BINARY_PACKED", runs="DELTA_BINARY_PACKED")
    write("pyarrow__split_delta.parquet", lambda p: pq.write_table(table, p, use_dictionary=False, column_encoding=split, compression="zstd"), by_duckdb)
    write("pyarrow__delta_length.parquet", lambda p: pq.write_table(table, p, use_dictionary=False, column_encoding={"word": "DELTA_LENGTH_BYTE_ARRAY"}), by_duckdb)


def pyarrow_ipc(write):
    import pyarrow.feather as feather, pyarrow.ipc as ipc
    for codec in ("uncompressed", "lz4", "zstd"):
        write("pyarrow__%s.feather" % codec, lambda p: feather.write_feather(arrow_table(), p, compression=codec, chunksize=1100), by_polars)

    def stream(p):
        with ipc.new_stream(p, arrow_table().schema) as w:
            w.write_table(arrow_table(), max_chunksize=700)
    write("pyarrow__stream.arrow", stream, by_polars)


def polars_files(write):
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4"):
        write("polars__%s.parquet" % codec, lambda p: frame().write_parquet(p, compression=codec, row_group_size=1300), by_pyarrow)
    for codec in ("uncompressed", "lz4", "zstd"):
        write("polars__%s.arrow" % codec, lambda p: frame().write_ipc(p, compression=codec), by_pyarrow)
    write("polars__csv.csv", lambda p: frame().drop(list(LISTS)).write_csv(p), by_pandas)


def duckdb_files(write):
    import duckdb
    db = duckdb.connect()
    db.register("written", arrow_table(half=False))
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"):
        for version in ("V1", "V2"):
            write("duckdb__%s_%s.parquet" % (codec, version), lambda p: db.sql("COPY written TO '%s' (FORMAT parquet, COMPRESSION %s, PARQUET_VERSION %s)" % (p, codec, version)),
                  by_pyarrow if version == "V1" else by_duckdb)  # pyarrow 26 does not read DuckDB 2's deltas


def pandas_files(write):
    import pandas
    table = pandas.DataFrame({k: v for k, v in columns(half=False).items()}).fillna(1)  # it writes NaN as no value
    for codec in ("snappy", "zstd", None):
        write("pandas__%s.parquet" % codec, lambda p: table.assign(word=table.word.astype("category")).to_parquet(p, compression=codec), by_duckdb)
    write("pandas__csv.csv", lambda p: table.to_csv(p, index=False), by_pandas)
    write("pandas__tabs.tsv", lambda p: table.drop(columns=["uint64"]).to_csv(p, sep="\t"), lambda p: {k if not k.startswith("Unnamed") else "Unnamed: 0": v for k, v in by_pandas(p).items()})


def fastparquet_files(write):
    import fastparquet, pandas
    table = pandas.DataFrame({k: v for k, v in columns(half=False).items()}).fillna(1)  # it writes NaN as null
    for codec in ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "BROTLI", "LZ4", "LZ4_RAW"):
        write("fastparquet__%s.parquet" % codec, lambda p: fastparquet.write(p, table.astype({"word": object}), compression=codec, row_group_offsets=1300), by_pyarrow)


def scipy_files(write):
    import scipy.io
    numbers = {k: v for k, v in columns(half=False).items() if k != "word"}
    real = {k: v for k, v in numbers.items() if k in ("label", "runs", "int16", "int32", "uint8", "uint16", "float32", "float64")}
    write("scipy__level4.mat", lambda p: scipy.io.savemat(p, dict(real, lists=LISTS["lists32"]), format="4"), by_scipy)
    for packed in (False, True):
        write("scipy__level5_%s.mat" % packed, lambda p: scipy.io.savemat(p, dict(numbers, lists=LISTS["lists32"]), do_compression=packed), by_scipy)


def safetensors_files(write):
    import safetensors.numpy
    write("safetensors__numpy.safetensors", lambda p: safetensors.numpy.save_file({k: v for k, v in columns().items() if k != "word"}, p), by_safetensors)


def torch_files(write):
    import torch
    name = "torch " + torch.__version__.split("+")[0]
    late = () if hasattr(torch, "uint16") else ("uint16", "uint32", "uint64")
    tensors = {k: torch.from_numpy(v) for k, v in dict(columns(), **LISTS).items() if k != "word" and k not in late}
    tensors.update(turned=torch.from_numpy(LISTS["lists32"]).t(), brain=torch.from_numpy(LISTS["lists32"]).bfloat16(), every=torch.from_numpy(LISTS["lists64"])[::3])
    old = {k: v for k, v in tensors.items() if k not in ("uint16", "uint32", "uint64")}
    write(name + "__zip.pt", lambda p: torch.save(dict(tensors, device=torch.device("cpu"), size=torch.Size([1])), p), by_torch)
    write(name + "__protocol5.pt", lambda p: torch.save(tensors, p, pickle_protocol=5), lambda p: {k: v.double().numpy() if v.is_floating_point() else v.numpy() for k, v in tensors.items()})
    write(name + "__old.pt", lambda p: torch.save(old, p, _use_new_zipfile_serialization=False), by_torch)


def numpy_files(write):
    table = dict(columns(), **LISTS)
    write("numpy__savez.npz", lambda p: np.savez(p, **table), by_numpy)
    write("numpy__compressed.npz", lambda p: np.savez_compressed(p, **{k: np.asfortranarray(v) for k, v in table.items()}), by_numpy)
    write("numpy__big_endian.npz", lambda p: np.savez(p, **{k: v.astype(v.dtype.newbyteorder(">")) for k, v in table.items()}), by_numpy)
    write("numpy__objects.npz", lambda p: np.savez(p, word=table["word"].astype(object)), by_numpy)
    for protocol in (2, 3, 4, 5):
        def dump(p):
            with open(p, "wb") as f:
                pickle.dump(table, f, protocol=protocol)
        write("pickle__protocol%d.pkl" % protocol, dump, by_pickle)


def joblib_files(write):
    import joblib
    table = dict(columns(), **LISTS)
    for how in (0, 3, ("gzip", 1)):
        write("joblib__%s.joblib" % str(how).strip("()").replace("'", "").replace(", ", "_"), lambda p: joblib.dump(table, p, compress=how), joblib.load)


def h5py_files(write):
    import h5py
    table = dict(columns(), **LISTS)
    words = table.pop("word")

    def save(p, libver, **how):
        with h5py.File(p, "w", libver=libver) as f:
            for name, v in table.items():
                if how.get("maxshape") == "first":
                    more = dict(how, maxshape=(None,) + v.shape[1:])
                elif how.get("maxshape") == "all":
                    more = dict(how, maxshape=(None,) * v.ndim)
                elif how.get("maxshape") == "last":
                    more = dict(how, maxshape=v.shape[:-1] + (None,))
                elif how.get("maxshape") == "twice":
                    more = dict(how, maxshape=tuple(2 * n for n in v.shape))
                else:
                    more = how
                if more.get("chunks") == "small":
                    more = dict(more, chunks=(7,) if v.ndim == 1 else (64, 2))
                f.create_dataset(name, data=v, **more)
            f.create_dataset("word", data=words.astype(object), dtype=h5py.string_dtype())
            f.create_dataset("deep/er/big_endian", data=table["lists32"].astype(">f4"), **({} if "chunks" in how else how))
            f["deep/fixed"] = np.char.encode(words, "utf8")
            f.create_dataset("deep/cube", data=np.arange(3000.0).reshape(10, 20, 15), chunks=(3, 7, 4))
            f.create_dataset("deep/scalar", data=3.5)
            for i in range(0 if how else 40):
                f["many/with a long name %d" % i] = [i]

    def large(p):
        with h5py.File(p, "w", libver="latest") as f:  # indexes with pages and blocks of blocks
            f.create_dataset("grows", data=np.arange(300000) % 251, dtype="u1", chunks=(1,), maxshape=(None,))
            f.create_dataset("fixed", data=np.arange(9000) % 251, dtype="u1", chunks=(1,), fletcher32=True)
            f.create_dataset("tree", data=np.arange(40000).reshape(200, 200) % 251, dtype="u1", chunks=(1, 1), maxshape=(None, None))
            for i in range(20000):
                f["heap/a name that takes some room, %d" % i] = h5py.SoftLink("/grows")
            f["heap/z"] = [1]
    write("h5py__large.h5", large, by_h5py)
    for libver in ("earliest", "v108", "v110", "v200", "latest"):
        for name, how in {"contiguous": {}, "gzip": dict(compression="gzip"), "lzf": dict(compression="lzf", shuffle=True), "small": dict(chunks="small"), "checked": dict(chunks="small", compression="gzip", shuffle=True, fletcher32=True),
                          "grows": dict(chunks="small", maxshape="first", compression="gzip"), "grows_plain": dict(chunks="small", maxshape="first"), "all": dict(chunks="small", maxshape="all"), "all_gzip": dict(chunks="small", maxshape="all", compression="gzip"),
                          "last": dict(chunks="small", maxshape="last"), "twice": dict(chunks="small", maxshape="twice"), "whole": dict(chunks=True, maxshape="twice", fletcher32=True)}.items():
            write("h5py__%s_%s.h5" % (libver, name), lambda p: save(p, (libver, libver if libver != "earliest" else "latest"), **how), by_h5py)

# What public repositories hold, by their names; each is a folder, a clone for instance, of COLLAPSE_CONFORMANCE.
COLLECTIONS = ("parquet-testing", "arrow-testing", "candle", "safetensors", "fastparquet")
SECOND = {".parquet": lambda p: want_of(__import__("pyarrow.parquet").parquet.ParquetFile(p).read()), ".feather": by_pyarrow, ".mat": by_scipy, ".h5": by_h5py, ".hdf5": by_h5py, ".npy": lambda p: {"": np.load(p)}, ".npz": by_numpy,
          ".safetensors": by_safetensors}


def plain(v):
    """Whether an array is one that features or labels can be: real numbers or words, of some length, without missing values."""
    v = np.asarray(v)
    return v.dtype.kind in "biufU" and v.size > 0 and v.dtype.itemsize // (4 if v.dtype.kind == "U" else 1) > 0 and v.dtype not in (np.longdouble,)


def collected(write, name, folder):
    """Files of others, as far as a second reader finds plain arrays in them."""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*"), recursive=True)):
        read = SECOND.get(os.path.splitext(path)[1])
        if read is None or os.path.getsize(path) > 20 << 20 or "bad_data" in path or "corrupt" in path:
            continue
        try:
            arrays = {k: v for k, v in read(path).items() if plain(v)}
        except Exception as e:  # a type of its own, or damage on purpose
            print("%s: the second reader says: %.100s" % (os.path.relpath(path, folder), str(e).replace("\n", " ")))
            continue
        if arrays:
            write("%s__%s" % (name, os.path.relpath(path, folder).replace(os.sep, "_")), lambda p: shutil.copyfile(path, p), lambda _: arrays)


def packages(write):
    for name in ("scipy", "pyarrow", "h5py", "fastparquet", "safetensors", "numpy"):
        spec = importlib.util.find_spec(name)
        if spec is None:
            print("%s: not installed" % name)
            continue
        collected(write, "in " + name, os.path.dirname(spec.origin))


def collections(write):
    where = os.environ.get("COLLAPSE_CONFORMANCE")
    for name in COLLECTIONS:
        folder = os.path.join(where or "", name)
        if where and os.path.isdir(folder):
            collected(write, name, folder)
        else:
            print("%s: missing; clone it into a folder that COLLAPSE_CONFORMANCE names" % name)


def main(folder):
    os.makedirs(folder, exist_ok=True)

    def write(name, make, read):
        path = os.path.join(folder, "new", name)  # without its second reader a file is not compared
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(path)
        np.savez(path + ".want.npz", **{k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in read(path).items()})
        for end in ("", ".want.npz"):
            os.replace(path + end, os.path.join(folder, name + end))

    for part in [globals()[name] for name in sys.argv[2:]] or (numpy_files, pyarrow_parquet, pyarrow_ipc, pandas_files, polars_files, duckdb_files, fastparquet_files, scipy_files, safetensors_files, torch_files, joblib_files, h5py_files, packages, collections):
        try:
            part(write)
        except ImportError as e:
            print("%s: not written: %s" % (part.__name__, e))


if __name__ == "__main__":
    main(sys.argv[1])
