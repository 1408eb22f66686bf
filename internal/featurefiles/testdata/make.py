"""Writes the files of this directory with numpy and torch; run it here: python3 make.py

All hold the formula features of docs/internal/formulas.md: K=4 classes of n=5 samples, d=6, and a classifier.
"""

import numpy as np
import torch

K, n, d = 4, 5, 6
k, i, j = np.meshgrid(np.arange(K), np.arange(n), np.arange(d), indexing="ij")
h = (np.sin(.37 * (k + 1) * (j + 1) + .5 * k) + .25 * np.cos(1.1 * (i + 1) * (j + 2) + .7 * k)).reshape(K * n, d)
c, e = np.meshgrid(np.arange(K), np.arange(d), indexing="ij")
w = np.sin(.37 * (c + 1) * (e + 1) + .5 * c) + .1 * np.cos(.9 * (c + 2) * (e + 1))
b = .1 * np.sin(1 + np.arange(K))
y = np.repeat(np.arange(K), n)

np.savez("numpy.npz", features=h, labels=y, weight=w, bias=b)
np.savez_compressed("keys.npz", H=h.astype(">f8"), Y=(10 * y + 5).astype("u1"), W=np.asfortranarray(w), B=b)
np.save("features_fortran_big.npy", np.asfortranarray(h.astype(">f8")))
np.save("labels_i2.npy", y.astype("i2"))
np.save("weight.npy", w)
np.save("bias.npy", b)

model = torch.nn.Sequential()
model.add_module("fc", torch.nn.Linear(d, K).double())
with torch.no_grad():
    model.fc.weight.copy_(torch.from_numpy(w))
    model.fc.bias.copy_(torch.from_numpy(b))
torch.save({"features": torch.from_numpy(h), "targets": torch.from_numpy(y), "state_dict": model.state_dict()}, "torch.pt")
torch.save({"h": torch.from_numpy(h.T.copy()).T, "y": y.tolist()}, "torch_lists.pt", _use_new_zipfile_serialization=False)
torch.save(model.state_dict(), "torch_model.pth")
