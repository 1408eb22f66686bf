"""A convolutional network collapses: NC1 to NC4 over epochs."""

import os

from common import arguments, batches, cnn, shapes, train

import collapse
import collapse.callbacks

a = arguments(__doc__)
x, y = shapes(128 if a.small else 512)
model = cnn()
meter = collapse.callbacks.Meter(batches(x, y), every=2, arguments=["--null", "0"])

train(model, x, y, 2 if a.small else 24, lambda epoch, loss: meter(model, epoch, loss=loss))

print(meter.history.rows()[-1])
meter.history.plot(os.path.join(a.out, "collapsing.svg"),
                   ["loss", "train/nc1_pinv", "train/nc2_means_etf_centred", "train/nc3_centred", "train/nc4_ncc_mismatch", "train/accuracy"])
