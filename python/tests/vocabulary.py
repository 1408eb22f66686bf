"""A language model in miniature whose tokens follow Zipf's law: a few come often, many once, some never.

    python3 python/tests/vocabulary.py FOLDER features|states K D N     captures N of its tokens, and prints one line of JSON
"""

import json
import resource
import sys
import time

import numpy as np

from support import torch

import collapse

BATCH = 2000
LAYER = "body"


def model(k, d):
    """Embedding, noise, a layer, and a classifier of k rows on d features."""
    nn = torch.nn

    class Miniature(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.body, self.lm_head = nn.Embedding(k, d), nn.Linear(d, d), nn.Linear(d, k)

        def forward(self, tokens):
            return self.lm_head(torch.tanh(self.body(self.embedding(tokens) + torch.randn(*tokens.shape, self.body.in_features) / 2)))

    torch.manual_seed(0)
    return Miniature().eval()


def tokens(k, n):
    """n tokens below k, int64; token i comes as often as 1/(i + 1)^1.2 says."""
    share = 1 / np.arange(1, k + 1) ** 1.2
    return torch.from_numpy(np.random.default_rng(0).choice(k, n, p=share / share.sum()))


def capture(folder, keep, k, d, n, part=0, parts=1, **options):
    """Captures every parts-th batch, from the part-th on. Noise is of the batch, so that parts see the rows that the whole does."""
    net, y = model(k, d), tokens(k, n)
    with torch.no_grad(), collapse.Tap(net, folder, keep=keep, **options) as tap:
        for i, batch in enumerate(y.split(BATCH)):
            if i % parts == part:
                torch.manual_seed(1 + i)
                net(batch)
                tap.labels(batch)


if __name__ == "__main__":
    start = time.time()
    capture(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
    print(json.dumps({"seconds": time.time() - start, "kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
