"""Writes the files of origins/ that are siblings of those that users sent: python3 make_origins.py [PART…]

Sixty samples of width 4 in three classes, as origins/x.npz holds them, with DuckDB 2.0.1, Polars 2.1.0, pyarrow 26.0.1, fastparquet 2026.9.0,
pandas 3.1.1, h5py 3.16.0, safetensors 0.8.0, scipy 1.17.1 and PyTorch 2.15.0. A library that is missing leaves its files as they are.
"""
import os
import sys

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "origins")
X = np.load(os.path.join(FOLDER, "x.npz"))
H, Y = X["features"], X["labels"]
WORDS = np.array(["ant", "bee", "cat"])[Y]


def at(name):
    return os.path.join(FOLDER, name)


def parquet():
    import duckdb, fastparquet, pandas, polars, pyarrow as pa, pyarrow.parquet as pq
    lists = pa.table({"features": list(H), "label": Y})
    for codec, version in (("zstd", "V2"), ("uncompressed", "V1"), ("lz4_raw", "V2"), ("brotli", "V1")):
        duckdb.sql("COPY (SELECT * FROM lists) TO '%s' (FORMAT parquet, COMPRESSION '%s', PARQUET_VERSION '%s')" % (at("duck_%s_%s.parquet" % (codec, version)), codec, version))
    df = polars.DataFrame({"features": polars.Series(list(H), dtype=polars.Array(polars.Float32, 4)), "label": WORDS})
    for codec in ("lz4", "zstd", "brotli"):
        df.write_parquet(at("polars_array_%s.parquet" % codec), compression=codec)
    plain = dict(use_dictionary=False)
    pq.write_table(lists, at("arrow_lz4_v2.parquet"), compression="lz4", data_page_version="2.0")
    pq.write_table(lists, at("arrow_brotli_v2.parquet"), compression="brotli", data_page_version="2.0")
    pq.write_table(lists, at("arrow_split.parquet"), column_encoding={"features.list.element": "BYTE_STREAM_SPLIT", "label": "DELTA_BINARY_PACKED"}, **plain)
    words = pa.table({"features": list(H), "label": WORDS})
    pq.write_table(words, at("arrow_delta_words.parquet"), column_encoding={"label": "DELTA_BYTE_ARRAY"}, **plain)
    pq.write_table(words, at("arrow_delta_length.parquet"), column_encoding={"label": "DELTA_LENGTH_BYTE_ARRAY"}, **plain)
    pq.write_table(words, at("arrow_delta_brotli.parquet"), column_encoding={"label": "DELTA_BYTE_ARRAY"}, compression="brotli", **plain)
    half = pa.table({"features": pa.array([[np.float16(v) for v in r] for r in H], pa.list_(pa.float16())), "label": Y})
    pq.write_table(half, at("half_arrow.parquet"), compression="zstd")
    pq.write_table(half, at("half_arrow_dictionary.parquet"), compression="lz4", data_page_version="2.0")
    pq.write_table(half, at("half_arrow_split.parquet"), column_encoding={"features.list.element": "BYTE_STREAM_SPLIT"}, **plain)
    pandas.DataFrame({"features": list(H), "label": pandas.Categorical(WORDS)}).to_parquet(at("pandas_categories.parquet"))
    table = pandas.DataFrame(H, columns=["f%d" % i for i in range(4)]).assign(label=Y)
    fastparquet.write(at("columns_fastparquet.parquet"), table, compression="ZSTD")
    table.to_parquet(at("columns_pandas.parquet"), compression="brotli")
    polars.from_pandas(table.rename(columns=lambda c: c.replace("f", "dim_"))).write_parquet(at("columns_polars.parquet"))


def torch_files():
    import argparse, collections, pathlib
    import torch
    h, y = torch.from_numpy(H), torch.from_numpy(Y)
    both = {"features": h, "labels": y}
    torch.save(dict(both, args=argparse.Namespace(lr=0.1), seen={3, 1}, at=pathlib.PurePosixPath("a"), rng=torch.get_rng_state()), at("torch_args.pt"))
    torch.save(dict(both, range=range(3), z=1j, raw=b"abc", count=collections.Counter("ab"), parts=collections.defaultdict(list, a=[1])), at("torch_builtins.pt"))
    torch.save(dict(both, model=torch.nn.Linear(4, 3), optim=torch.optim.SGD([torch.nn.Parameter(h[:1].clone())])), at("torch_module.pt"))
    torch.save(dict(both, acc=np.float64(0.9), n=np.int64(60), ok=np.bool_(True), when=np.datetime64("2026-01-01")), at("torch_numpy_scalars.pt"))
    torch.save(dict(features=H, labels=Y, words=WORDS), at("torch_numpy_words.pt"))
    torch.save(dict(features=H.astype(np.float64), label=WORDS.astype(object)), at("torch_numpy_objects.pt"), pickle_protocol=4)
    torch.save(dict(features=h, labels=y.to(torch.uint16), scale=torch.ones(3, dtype=torch.float8_e4m3fn)), at("torch_uint16_float8.pt"))
    torch.save({"features": [h[i:i + 16] for i in range(0, 60, 16)], "labels": [y[i:i + 16] for i in range(0, 60, 16)]}, at("torch_batches.pt"))
    torch.save({"features": list(h), "labels": Y.tolist()}, at("torch_samples.pt"))
    torch.save((h, y), at("torch_tuple.pt"))
    torch.save({"features": torch.nn.Parameter(h), "labels": y.to_sparse().to_dense(), "sparse": h.to_sparse()}, at("torch_sparse.pt"), _use_new_zipfile_serialization=False)
    import safetensors.torch
    safetensors.torch.save_file(dict(both, scale=torch.ones(3).to(torch.float8_e5m2)), at("fp8_e5m2.safetensors"))
    safetensors.torch.save_file(dict(both, c=torch.ones(3, dtype=torch.complex64)), at("complex.safetensors"))
    safetensors.torch.save_file(dict(both, a=torch.ones(3).to(torch.float8_e8m0fnu), c=torch.ones(5).to(torch.float8_e4m3fn)), at("fp8_e8m0.safetensors"))
    fc = {"fc.weight": torch.ones(3, 4), "fc.bias": torch.zeros(3)}
    for name, shards in (("halves", [both, fc]), ("thirds", [{"features": h}, {"labels": y}, fc]), ("one", [dict(both, **fc)])):
        index = {}
        for i, shard in enumerate(shards):
            file = "%s-%05d-of-%05d.safetensors" % (name, i + 1, len(shards))
            safetensors.torch.save_file(shard, at(os.path.join("sharded", file)))
            index.update({key: file for key in shard})
        with open(at("sharded/%s.safetensors.index.json" % name), "w") as f:
            __import__("json").dump({"metadata": {"total_size": 1}, "weight_map": index}, f)


def pickles():
    import pickle
    for name, value, protocol in (("tuple", (H, Y), 2), ("dict", {"features": H, "labels": WORDS.tolist()}, 3), ("lists", {"features": H.tolist(), "labels": Y.tolist()}, 4),
                                  ("batches", {"features": [H[i:i + 7] for i in range(0, 60, 7)], "labels": [Y[i:i + 7] for i in range(0, 60, 7)]}, 5)):
        with open(at("pickle_%s.pkl" % name), "wb") as f:
            pickle.dump(value, f, protocol=protocol)
    np.save(at("numpy_dict.npy"), {"features": H, "labels": Y})
    pair = np.empty(2, dtype=object)
    pair[:] = [H, Y]
    np.save(at("numpy_pair.npy"), pair)
    np.savez(at("numpy_words.npz"), features=H, labels=WORDS.astype(object))
    np.savez(at("numpy_by_place.npz"), H, Y)
    np.savez(at("numpy_columns_of_one.npz"), emb=H[:, :, None, None], y=Y[None])
    np.savez(at("numpy_turned_labels.npz"), z=H, target=Y[:, None].astype(np.float64))


def tables():
    import duckdb, pandas, polars
    table = pandas.DataFrame(H, columns=["f%d" % i for i in range(4)])
    table.assign(label=WORDS).to_csv(at("pandas_index.csv"))
    table.assign(label=Y).to_csv(at("pandas.csv"), index=False)
    table.assign(label=Y).to_csv(at("pandas_tabs.tsv"), index=False, sep="\t")
    pandas.DataFrame(H).assign(y=WORDS).to_csv(at("pandas_semicolons.csv"), index=False, sep=";", quoting=2)
    polars.from_pandas(table.assign(label=WORDS)).write_csv(at("polars.csv"))
    named = table.set_axis(["sepal length", "sepal width", "petal length", "petal width"], axis=1).assign(species=WORDS)
    pandas.DataFrame(H).assign(y=Y).to_csv(at("pandas_numbers_as_names.csv"), quoting=2)
    duckdb.sql("COPY (SELECT * FROM named) TO '%s' (DELIMITER '|', QUOTE '\"')" % at("duck_bars.csv"))
    named.to_csv(at("named_columns.csv"), index=False)
    named.to_csv(at("no_header.csv"), index=False, header=False)
    folder = at("savetxt")
    os.makedirs(folder, exist_ok=True)
    np.savetxt(os.path.join(folder, "features.txt"), H, header="four columns")
    np.savetxt(os.path.join(folder, "labels.txt"), Y, fmt="%d")


def arrow():
    import pandas, polars, pyarrow as pa, pyarrow.feather as feather, pyarrow.ipc as ipc
    lists = pa.table({"id": ["sample %03d of sixty" % i for i in range(60)], "features": list(H), "label": Y})
    feather.write_feather(lists, at("feather_lz4.feather"), compression="lz4", chunksize=25)
    feather.write_feather(lists, at("feather_zstd.feather"), compression="zstd")
    with ipc.new_stream(at("stream.arrow"), lists.schema) as w:
        w.write_table(lists, max_chunksize=17)
    fixed = pa.table({"t": pa.array([None] * 60), "s": [{"a": 1, "b": "x"}] * 60, "features": pa.FixedSizeListArray.from_arrays(H.reshape(-1), 4), "label": pa.array(WORDS).dictionary_encode(),
                      "when": pa.array(range(60), pa.timestamp("s")), "nullable": pa.array([1, None] * 30)})
    feather.write_feather(fixed, at("feather_mixed.feather"), compression="uncompressed", chunksize=7)
    table = pandas.DataFrame(H, columns=["f%d" % i for i in range(4)])
    table.assign(label=pandas.Categorical(WORDS)).to_feather(at("pandas_columns.feather"))
    df = polars.DataFrame({"text": ["a text of more than twelve bytes, %d" % i for i in range(60)], "features": polars.Series(list(H), dtype=polars.Array(polars.Float32, 4)), "label": WORDS})
    df.write_ipc(at("polars.arrow"))
    df.with_columns(polars.col("features").arr.to_list()).write_ipc(at("polars_lists_zstd.arrow"), compression="zstd")
    df.with_columns(polars.col("label").cast(polars.Categorical)).write_ipc_stream(at("polars_stream.arrow"), compression="lz4")


def hugging_face():
    import datasets
    data = datasets.Dataset.from_dict({"features": [row.tolist() for row in H], "label": Y.tolist()},
                                      features=datasets.Features({"features": datasets.Sequence(datasets.Value("float32")), "label": datasets.ClassLabel(names=["ant", "bee", "cat"])}))
    data.save_to_disk(at("dataset"), num_shards=2)
    datasets.Dataset.from_dict({"embeddings": H, "label": WORDS, "text": ["text %d" % i for i in range(60)]}).save_to_disk(at("dataset_words"))
    data.map(lambda row: {"hidden_states": row["features"]}, remove_columns=["features"]).save_to_disk(at("dataset_mapped"), num_shards=3)
    data.with_format("torch").rename_column("label", "target").save_to_disk(at("dataset_torch"))


def hdf5():
    import h5py
    for name, libver, how in (("plain", "earliest", {}), ("gzip", "earliest", dict(chunks=(7, 3), compression="gzip", shuffle=True)), ("latest", "latest", dict(chunks=(16, 4), maxshape=(None, 4), compression="lzf"))):
        with h5py.File(at("h5py_%s.h5" % name), "w", libver=libver) as f:
            f.create_dataset("features", data=H, **how)
            f["labels"] = Y
    with h5py.File(at("h5py_groups.hdf5"), "w") as f:
        f["train/features"], f["train/labels"] = H, WORDS.astype(object)
        f["test/features"], f["test/labels"] = H[:9], WORDS[:9].astype(object)
    with h5py.File(at("h5py_x_y.h5"), "w", track_order=True) as f:
        f["X"], f["y"] = H.astype(">f8"), Y.astype(np.uint8)[:, None]
        f.attrs["model"] = "resnet18"


def joblib_files():
    import joblib, torch
    joblib.dump({"features": H, "labels": Y}, at("joblib_dict.joblib"))
    joblib.dump({"features": np.asfortranarray(H), "labels": WORDS, "dates": np.array(["2026-01-01"], "M8[D]")}, at("joblib_zlib.joblib"), compress=3)
    joblib.dump((H, WORDS.astype(object)), at("joblib_objects.joblib"))
    joblib.dump({"features": torch.from_numpy(H), "labels": Y.tolist()}, at("joblib_torch.joblib.gz"), compress=("gzip", 3))


def torch_in_pickles():
    import pickle, torch
    for protocol in (2, 4, 5):
        with open(at("pickle_torch_%d.pkl" % protocol), "wb") as f:
            pickle.dump({"features": torch.from_numpy(H), "labels": torch.from_numpy(Y)}, f, protocol=protocol)
    with open(at("pickle_records.pkl"), "wb") as f:
        pickle.dump([{"embedding": h, "label": str(y), "id": i} for i, (h, y) in enumerate(zip(H, WORDS))], f)
    torch.save([(h, int(y)) for h, y in zip(torch.from_numpy(H), Y)], at("torch_pairs_of_integers.pt"))
    torch.save([{"features": h, "label": str(y)} for h, y in zip(torch.from_numpy(H), WORDS)], at("torch_records.pt"))


def json_files():
    import json, pandas, polars
    values = [[float(v) for v in h] for h in H]
    table = pandas.DataFrame(H.astype(np.float64), columns=["f%d" % i for i in range(4)]).assign(label=WORDS)

    def dump(name, *documents):
        with open(at(name), "w") as f:
            f.writelines(json.dumps(d) + "\n" for d in documents)
    dump("lines.jsonl", *[{"id": "sample %d" % i, "embedding": h, "label": str(y)} for i, (h, y) in enumerate(zip(values, WORDS))])
    dump("arrays.json", {"model": "resnet18", "features": values, "labels": Y.tolist()})
    dump("records.json", [{"features": h, "target": int(y)} for h, y in zip(values, Y)])
    table.to_json(at("pandas_columns.json"), double_precision=15)
    table.to_json(at("pandas_lines.jsonl.gz"), orient="records", lines=True, double_precision=15)
    polars.DataFrame({"features": H.astype(np.float64), "label": WORDS}).write_ndjson(at("polars.ndjson"))


def packed():
    import gzip, pickle, pandas
    pandas.DataFrame(H, columns=["f%d" % i for i in range(4)]).assign(label=Y).to_csv(at("pandas.csv.gz"), index=False)
    with gzip.open(at("pickle.pkl.gz"), "wb") as f:
        pickle.dump({"features": H, "labels": Y}, f)
    with open(at("x.npz"), "rb") as f, gzip.open(at("x.npz.gz"), "wb") as z:
        z.write(f.read())


def matlab():
    import scipy.io
    rows = {"features": H.astype(np.float64), "labels": Y}
    scipy.io.savemat(at("level4.mat"), rows, format="4")
    scipy.io.savemat(at("level4_single.mat"), {"note": "sixty samples", "features": H, "labels": Y.astype(np.int16)[:, None], "c": np.array([1j])}, format="4")
    scipy.io.savemat(at("level5_cells.mat"), {"features": H, "labels": Y, "names": np.array(["ant", "bee"], dtype=object), "info": {"a": 1}}, do_compression=True)
    scipy.io.savemat(at("level5_column.mat"), {"X": H, "y": Y.astype(np.float64)[:, None]})
    scipy.io.savemat(at("level5_by_shape.mat"), {"fea": H, "gnd": Y.astype(np.uint8)})


if __name__ == "__main__":
    parts = {name: value for name, value in list(globals().items()) if callable(value) and name != "at"}
    for name in sys.argv[1:] or parts:
        try:
            parts[name]()
        except ImportError as e:
            print("%s: %s" % (name, e))
