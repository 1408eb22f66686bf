"""Writes arrow_017.arrow as Arrow 0.17 wrote it: packed with LZ4, which a note beside the message says in words. python3 make_arrow.py (pyarrow 26.0.1)."""
import os
import struct

import numpy as np
import pyarrow as pa

numbers = (np.arange(400) % 3).astype(np.int64)
packed = struct.pack("<q", numbers.nbytes) + pa.compress(numbers.tobytes(), codec="lz4", asbytes=True)
column = pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(packed.ljust(numbers.nbytes, b"\0"))])
batch = pa.RecordBatch.from_arrays([column], ["a"])
with pa.OSFile(os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrow_017.arrow"), "wb") as f:
    with pa.ipc.new_file(f, batch.schema, options=pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4)) as w:
        w.write_batch(batch, custom_metadata={"ARROW:experimental_compression": "lz4"})
