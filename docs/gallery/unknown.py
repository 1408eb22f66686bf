"""Inputs of no class: what collapse does for scores that are to detect them."""

import os

import torch
from common import arguments, cnn, shapes, train, unknown

import collapse

a = arguments(__doc__)
x, y = shapes(128 if a.small else 512)
xt, yt = shapes(128, seed=1)
ood = unknown(128)
model, history = cnn(), collapse.History()


def after(epoch, loss):
    if epoch == 1 or epoch % 4 == 0:
        model.eval()
        with torch.no_grad():
            history.add(epoch, collapse.measure(model.body(x), y, model.fc, test=(model.body(xt), yt), ood=model.body(ood), null=0))
        model.train()


train(model, x, y, 2 if a.small else 24, after)
print(history.rows()[-1])
history.plot(os.path.join(a.out, "unknown.svg"), ["train/nc1_pinv", "train/nc5_ood", "train/ood_auroc_msp", "train/ood_auroc_energy", "train/ood_auroc_max_logit", "train/ood_auroc_neco"])
