"""Wrong labels: what a network does that learns them by heart."""

import os

import torch
from common import arguments, cnn, shapes, train

import collapse

a = arguments(__doc__)
x, true = shapes(128 if a.small else 512)
xt, yt = shapes(256, seed=1)
redrawn = torch.rand(len(x)) < .2
y = torch.where(redrawn, torch.randint(0, 4, (len(x),)), true)
model, history = cnn(width=16), collapse.History()


def after(epoch, loss):
    if epoch == 1 or epoch % 4 == 0:
        model.eval()
        with torch.no_grad():
            result = collapse.measure(model.body(x), y, model.fc, test=(model.body(xt), yt), true=true, corrupted=redrawn, null=0)
        history.add(epoch, result, loss=loss)
        model.train()


train(model, x, y, 2 if a.small else 80, after, lr=.02)
print(history.rows()[-1])
history.plot(os.path.join(a.out, "memorization.svg"),
             ["train/accuracy", "test/accuracy", "train/memorization_normalised", "test/dilation", "train/nc1_pinv", "loss"])
