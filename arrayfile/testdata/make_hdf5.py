"""Writes the HDF5 files of hdf5_test.go: python3 make_hdf5.py (h5py 3.16.0 with HDF5 2.0.0 made those here)."""
import os

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
R = np.random.default_rng(5)
H = R.normal(size=(20, 6))
Y = np.arange(20) % 3
WORDS = np.array(["ant", "bee", "cåt"])[Y]


def at(name):
    return os.path.join(HERE, name)


def arrays(f):
    """Every way to store an array, and what is in it."""
    f["features"] = H.astype(np.float32)
    f["labels"] = Y
    f.create_dataset("gzip", data=H, chunks=(7, 4), compression="gzip", shuffle=True, fletcher32=True)
    f.create_dataset("lzf", data=np.repeat(Y, 40).astype(np.int16), compression="lzf")
    f.create_dataset("one", data=H, chunks=H.shape)
    f.create_dataset("one_gzip", data=H, chunks=H.shape, compression="gzip")
    f.create_dataset("fixed", data=H, chunks=(3, 3), maxshape=(50, 40))
    f.create_dataset("fixed_pages", data=np.arange(1100, dtype=np.uint16), chunks=(1,))
    f.create_dataset("grows", data=H.astype(np.float16), chunks=(2, 5), maxshape=(None, 6))
    f.create_dataset("grows_right", data=H, chunks=(4, 1), maxshape=(20, None), compression="gzip")
    f.create_dataset("grows_both", data=H.astype(">f4"), chunks=(1, 1), maxshape=(None, None))
    f.create_dataset("many", data=np.arange(900, dtype=np.uint8), chunks=(3,), maxshape=(None,), compression="gzip")
    f.create_dataset("grows_odd_checksum", data=np.arange(21, dtype=np.uint8), chunks=(7,), fletcher32=True)
    f.create_dataset("cube", data=np.arange(105.0).reshape(5, 3, 7), chunks=(2, 2, 3))
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_chunk((6, 4))
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    h5py.h5d.create(f.id, b"early", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(H.shape), early).write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(H))
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(f.id, b"compact", h5py.h5t.STD_I32BE, h5py.h5s.create_simple((3,)), compact).write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, -2, 3], np.int32))
    f["words/heap"] = WORDS.astype(object)
    f["words/fixed"] = np.char.encode(WORDS, "utf8")
    f["bools/b"] = Y == 1
    f["scalar"] = np.float32(2.5)
    f["empty"] = np.zeros((0, 4))
    f["type"] = np.dtype("<i2")
    f.create_dataset("named_type", data=np.arange(4, dtype=np.int16), dtype=f["type"])
    f["color"] = np.array([0, 2], np.uint8).astype(h5py.enum_dtype({"red": 0, "blue": 2}, basetype=np.uint8))
    for i in range(12):
        f["group/with/depth/of a name that is not short %02d" % i] = np.uint8([i])
    for i in range(100):  # a heap of several rows
        f["links/to one array, %03d" % i] = f["scalar"]
    f["features"].attrs.update({"note %d" % i: "x" * 30 for i in range(12)})
    f["group/again"] = f["group"]  # a cycle


def read(f):
    out = {}

    def see(prefix, group):
        for name, x in group.items():
            name = prefix + name.replace("/", ".")
            if isinstance(x, h5py.Dataset):
                v = np.array(x[...])
                out[name] = np.array([t.decode() for t in v]) if v.dtype.kind in "OS" else v
            elif isinstance(x, h5py.Group) and name != "group.again":
                see(name + ".", x)
    see("", f)
    return out


def odd(f):
    f["after"] = [1.5, 2.5]
    f["complex"] = np.array([1j])
    f["record"] = np.zeros(2, [("a", "f4"), ("b", "i4")])
    f["ragged"] = np.array([np.arange(2), np.arange(3)], object).astype(h5py.vlen_dtype(int))
    f["none"] = h5py.Empty("f4")
    f["soft"] = h5py.SoftLink("/after")
    f["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
    f["refers"] = np.array([f["after"].ref], h5py.ref_dtype)
    f.create_dataset("inner", (2,), np.dtype(("f4", (3,))))[:] = np.ones((2, 3))
    f["opaque"] = np.array([b"ab"]).astype("V2")
    f.create_dataset("unwritten", (3,), "f4")
    f.create_dataset("partly", (8,), "f4", chunks=(2,))[:3] = 1
    f.create_dataset("scaled", data=np.arange(10), scaleoffset=5)
    f["latin"] = np.array([b"\xe9"])


def matlab(path):
    with h5py.File(path, "w", userblock_size=512) as f:
        f["features"] = np.asfortranarray(H).T  # MATLAB stores by columns
        f["labels"] = (Y + 1.0).reshape(1, 20)
        f["words"] = np.array([[104], [105]], np.uint16)
        f["nothing"] = np.array([0, 3], np.uint64)
        f["features"].attrs["MATLAB_class"] = np.bytes_("double")
        f["words"].attrs["MATLAB_class"] = np.bytes_("char")
        f["nothing"].attrs["MATLAB_empty"] = np.uint8(1)
        f["#refs#/a"] = [1.0]
    with open(path, "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file, as if".ljust(124) + b"\x00\x02IM")


def main():
    for name, libver in {"earliest": ("earliest", "v108"), "middle": "v110", "latest": "latest"}.items():
        with h5py.File(at("hdf5_%s.h5" % name), "w", libver=libver) as f:
            arrays(f)
            np.savez_compressed(at("hdf5_arrays.npz"), **read(f))
    with h5py.File(at("hdf5_odd.h5"), "w") as f:
        odd(f)
    matlab(at("hdf5_matlab.mat"))


main()
