"""Writes bools.parquet: runs of booleans in a page of version 2; needs pyarrow (26.0.1 made the file). python3 make_bools.py"""
import pyarrow
import pyarrow.parquet

values = [i // 11 % 2 == 0 for i in range(700)] + [i % 3 == 0 for i in range(300)]
pyarrow.parquet.write_table(pyarrow.table({"x": values}), "bools.parquet", data_page_version="2.0")
