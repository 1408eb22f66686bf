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


if __name__ == "__main__":
    parts = {name: value for name, value in list(globals().items()) if callable(value) and name not in ("at",)}
    for name in sys.argv[1:] or parts:
        try:
            parts[name]()
        except ImportError as e:
            print("%s: %s" % (name, e))
