"""Makes the .npy and .npz files here with numpy (1.24.2): python3 make.py. See numpy_test.go."""
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
