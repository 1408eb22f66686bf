"""Makes the .npy and .npz files here with numpy (1.24.2): python3 make.py. See numpy_test.go."""
import io

import numpy as np

values = np.arange(-5, 19).reshape(2, 3, 4)
for t in ["?", "u1", "i1", "<u2", ">u2", "<i2", ">i4", "<u4", "<i8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]:
    a = np.abs(values) if "u" in t else values % 2 if t == "?" else values
    name = t.replace("<", "le_").replace(">", "be_").replace("?", "bool")
    np.save(f"{name}_c.npy", a.astype(t))
    np.save(f"{name}_f.npy", np.asfortranarray(a.astype(t)))
np.save("scalar.npy", np.float64(2.5))
np.save("empty.npy", np.zeros((0, 7), "<f4"))
np.save("vector.npy", np.arange(3, dtype="<f4"))
np.savez("stored.npz", features=values.astype("<f4"), labels=np.arange(3))
np.savez_compressed("deflated.npz", features=np.asfortranarray(values.astype(">f8")), labels=np.arange(3), names=np.array(["a", "b"]))

# The lengths of headers around the multiples of 64 at which numpy pads them: order, shape, bytes.
with open("headers.txt", "w") as out:
    for n in range(150):
        shape = (1,) * (n // 10) + (10 ** (n % 10),)
        for fortran in (False, True):
            b = io.BytesIO()
            np.lib.format.write_array_header_1_0(b, {"descr": "<f4", "fortran_order": fortran, "shape": shape})
            print(fortran, ",".join(map(str, shape)), len(b.getvalue()), file=out)
