"""Layer by layer: where in the network classes gather, before and after training."""

import os

from common import arguments, batches, cnn, shapes, train

import collapse

a = arguments(__doc__)
x, y = shapes(128 if a.small else 512)
model = cnn()
before = collapse.measure_layers(model, batches(x, y))
train(model, x, y, 2 if a.small else 24)
after = collapse.measure_layers(model, batches(x, y))
print("before", before.curve("nc1_trace_ratio"))
print("after ", after.curve("nc1_trace_ratio"))
before.plot(os.path.join(a.out, "layers-before.svg"), ["nc1_trace_ratio", "nc1_pinv", "ncc_accuracy"])
after.plot(os.path.join(a.out, "layers.svg"), ["nc1_trace_ratio", "nc1_pinv", "ncc_accuracy"])
