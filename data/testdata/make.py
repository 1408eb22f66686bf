# Writes the small files of svhn_test.go, miniimagenet_test.go and folder_test.go with scipy 1.10.1, numpy 1.24.2 and Pillow 9.4.0:
# python3 make.py. Pixels follow from formulas that the tests repeat.
import os
import pickle

import numpy as np
import scipy.io as sio
from PIL import Image

# SVHN: X[y, x, c, n] = 7n + 3y + 5x + 11c mod 256, y = 1…10 in turn.
n, y, x, c = np.meshgrid(np.arange(12), np.arange(32), np.arange(32), np.arange(3), indexing="ij")
images = ((7 * n + 3 * y + 5 * x + 11 * c) % 256).astype(np.uint8)
labels = (np.arange(12) % 10 + 1).reshape(-1, 1)
sio.savemat("svhn_train.mat", {"X": images.transpose(1, 2, 3, 0), "y": labels.astype(np.uint8)}, do_compression=True)
sio.savemat("svhn_test.mat", {"X": images[:11].transpose(1, 2, 3, 0), "y": labels[:11].astype(float)}, do_compression=True)
for f in ["svhn_train.mat", "svhn_test.mat"]:
    b = bytearray(open(f, "rb").read())
    b[:116] = b"MATLAB 5.0 MAT-file, made by make.py".ljust(116)
    open(f, "wb").write(b)

# Images of a folder: pixel (y, x) is (8x, 8y, 100), in the kinds of file that occur.
w, h = 24, 20
x, y = np.meshgrid(np.arange(w), np.arange(h))
rgb = np.stack([8 * x, 8 * y, np.full_like(x, 100)], axis=2).astype(np.uint8)
Image.fromarray(rgb).save("image_rgb.png")
Image.fromarray(np.dstack([rgb, np.full_like(x, 90).astype(np.uint8)])).save("image_rgba.png")
Image.fromarray(rgb[:, :, 0]).save("image_grey.png")
Image.fromarray(rgb).quantize(256, kmeans=0).save("image_palette.png")
Image.fromarray(rgb).save("image_full.jpg", quality=95, subsampling=0)
for name in ["image_rgb.png", "image_rgba.png", "image_grey.png", "image_palette.png", "image_full.jpg"]:
    im = Image.open(name).convert("RGB")
    np.save(name + ".npy", np.asarray(im).transpose(2, 0, 1))
    np.save(name + ".16.npy", np.asarray(im.resize((16, 16), Image.BILINEAR)).transpose(2, 0, 1))
