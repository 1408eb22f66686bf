# Writes the pickles of pickle_numpy_test.go: python3 make_pickle.py (numpy 1.24.2 made those here).
import pickle

import numpy as np

content = {
    "image_data": np.arange(2 * 3 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3, 3),
    "class_dict": {"n01": [0, 1], "n02": np.array([5, 7]), "n03": (np.int64(3),), "n04": range(0)},
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "big": np.arange(4, dtype=">i4"),
    "half": np.array([0.5, -2], dtype=np.float16),
    "flag": np.array([True, False]),
    "scalar": np.float32(1.5),
    "words": ["a", b"bytes", "ü", b"\xff\x00" * 200, None, 3, -(2**40), 2.5, True],
}
content["class_dict"]["n04"] = []
for protocol in range(2, 6):
    with open(f"numpy_protocol{protocol}.pkl", "wb") as f:
        pickle.dump(content, f, protocol=protocol)
np.savez("numpy_pickle.npz", **{k: content[k] for k in ["image_data", "fortran", "big", "half", "flag"]})

# What a .pkl of today holds beside arrays: objects in the shape of an array, and words of numpy, one by one.
for protocol in (2, 5):
    with open(f"objects_protocol{protocol}.pkl", "wb") as f:
        grid = np.array([[1, 2, 3], [4, 5, 6]], dtype=object)
        pickle.dump({"grid": grid, "mixed": np.array([[0.5, 1], [2, 3]], dtype=object), "words": [np.str_("owl"), np.str_("öwl"), np.str_("owl")]}, f, protocol=protocol)
