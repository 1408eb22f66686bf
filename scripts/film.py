#!/usr/bin/env python3
"""The film at the top of README: features and class means of a network of ten classes become a simplex.

    scripts/film.py COLLAPSE [OUT.gif]

trains the network of README (a lab in a temporary folder, some thirty seconds), has the program measure each saved epoch, and draws
docs/images/collapse.gif. Needs numpy, matplotlib and Pillow. Every scale is that of the last epoch and stays fixed.
"""

import glob
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy
from PIL import Image

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EPOCHS = list(range(1, 31)) + list(range(33, 61, 3))
HOLD = 14       # pictures of the last epoch, while the view goes on turning
SHOWN = 40      # samples of a class that are drawn
COLOURS = plt.get_cmap("tab10").colors
# What a dial shows: its key, the value at its left end and that at its right end; the axis is logarithmic.
DIALS = [("NC1  spread within classes", "nc1_pinv", 30, 1e-3), ("NC2  means to a simplex", "nc2_means_etf_centred", 1, 1e-2),
         ("NC3  classifier to means", "nc3_centred", 1.5, 1e-2), ("NC4  not the nearest mean", "nc4_ncc_mismatch", 1, 1e-2)]


def trained(program, lab):
    """The features folder of README's network, with every epoch."""
    with open(os.path.join(ROOT, "README.md")) as f:
        command = re.search(r"^\./collapse (train .*?[^\\])$", f.read(), re.M | re.S).group(1).replace("\\\n", " ").split()
    subprocess.run([program, *command, "--lab", lab, "--set", "run.save_features=all"], check=True, stdout=subprocess.DEVNULL)
    return glob.glob(os.path.join(lab, "runs", "*", "features"))[0]


def arrays(path):
    """The arrays of a .safetensors file: numbers of 32 and 64 bits."""
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header, data = json.loads(f.read(size)), f.read()
    kinds = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
    return {name: numpy.frombuffer(data[slice(*a["data_offsets"])], kinds[a["dtype"]]).reshape(a["shape"])
            for name, a in header.items() if name != "__metadata__" and a["dtype"] in kinds}


def epoch(program, features, number):
    """Features, labels, class means around their centre, and what the program measures."""
    folder = os.path.join(features, str(number))
    a = arrays(os.path.join(folder, "train-0.safetensors"))
    h, y = a["features"].astype(float), a["labels"]
    means = numpy.stack([h[y == k].mean(0) for k in range(10)])
    centre = means.mean(0)
    said = json.loads(subprocess.check_output([program, "measure", "--json", "--null", "3", *sorted(glob.glob(folder + "/*.safetensors"))]))
    return h - centre, y, means - centre, said


def view(means):
    """Three directions of the span of the means in which a simplex of ten corners is a pentagonal antiprism."""
    k = numpy.arange(10)
    corners = numpy.stack([numpy.cos(k * numpy.pi / 5), numpy.sin(k * numpy.pi / 5), (-1.) ** k])
    return numpy.linalg.qr((corners @ means).T)[0]


def picture(number, state, axes, scale, turn):
    h, y, means, said = state
    figure = plt.figure(figsize=(7.2, 3.9), dpi=100)
    cloud = figure.add_axes([-.02, -.06, .6, 1.06], projection="3d", computed_zorder=False)
    m = means @ axes / scale
    for k in range(10):
        for other in (k + 1, k + 2):
            cloud.plot(*m[[k, other % 10]].T, color="0.72", lw=.8, zorder=1)
        cloud.plot(*(h[y == k][:SHOWN] @ axes / scale).T, ".", ms=2.2, color=COLOURS[k], zorder=2)
        cloud.plot(*m[k:k + 1].T, "o", ms=6, color=COLOURS[k], mec="black", mew=.7, zorder=3)
    cloud.set(xlim=(-.62, .62), ylim=(-.62, .62), zlim=(-.62, .62))
    cloud.view_init(18, turn)
    cloud.set_axis_off()
    verdict = said["finding"].split(":")[0]
    figure.text(.03, .92, f"epoch {number}", size=13)
    figure.text(.2, .92, verdict, size=13, weight="bold", color="#0a7d33" if verdict == "Collapsed" else "0.25")
    gram(figure, means)
    dials(figure, said["measures"])
    buffer = io.BytesIO()
    figure.savefig(buffer, facecolor="white")
    plt.close(figure)
    return Image.open(buffer).convert("RGB")


def gram(figure, means):
    unit = means / numpy.linalg.norm(means, axis=1, keepdims=True)
    axes = figure.add_axes([.665, .5, .25, .4])
    axes.imshow(unit @ unit.T, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set(xticks=[], yticks=[])
    axes.set_title("cosines of class means", size=9)


def dials(figure, measures):
    for i, (label, key, left, right) in enumerate(DIALS):
        value, y = measures[key], .36 - .105 * i
        reached = numpy.clip(numpy.log(left / max(value, right)) / numpy.log(left / right), 0, 1)
        bar = figure.add_axes([.6, y, .37, .028])
        bar.barh(0, reached, color="#0a7d33")
        bar.set(xlim=(0, 1), ylim=(-.4, .4), xticks=[], yticks=[])
        figure.text(.6, y + .042, label, size=8.5)
        figure.text(.97, y + .042, f"{value:.2g}", size=8.5, ha="right")


def stacked(*pictures):
    """One picture of several, whose colours are those of all."""
    whole = Image.new("RGB", (pictures[0].width, pictures[0].height * len(pictures)))
    for i, p in enumerate(pictures):
        whole.paste(p, (0, i * p.height))
    return whole


def main(program, out):
    with tempfile.TemporaryDirectory() as lab:
        features = trained(program, lab)
        states = [(e, epoch(program, features, e)) for e in EPOCHS]
    last = states[-1][1]
    axes, scale = view(last[2]), numpy.linalg.norm(last[2], axis=1).max()
    states += [states[-1]] * HOLD
    pictures = [picture(e, s, axes, scale, 20 + 3 * i) for i, (e, s) in enumerate(states)]
    palette = stacked(pictures[0], pictures[7], pictures[-1]).quantize(96, dither=Image.Dither.NONE)
    frames = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    frames[0].save(out, save_all=True, append_images=frames[1:], duration=[220] * (len(frames) - 1) + [2500], loop=0, optimize=True)
    print(f"{out}: {len(frames)} pictures, {os.path.getsize(out):,} bytes; epochs {', '.join(str(e) + ' ' + s[3]['finding'].split(':')[0] for e, s in states[::6])}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "docs", "images", "collapse.gif"))
