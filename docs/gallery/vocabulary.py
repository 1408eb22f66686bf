"""A transformer's head over a vocabulary: the classes are tokens, certain in one language and doubtful in another."""

import os

import torch
from common import arguments

import collapse
import collapse.callbacks

VOCABULARY, WIDTH, LENGTH = 48, 16, 24


def sentences(n, doubt):
    """Token t+1 follows from t and t−1 by a fixed table, whose tokens are not equally frequent; with probability `doubt` it is drawn anew."""
    g = torch.Generator().manual_seed(1)
    frequencies = 1 / torch.arange(1., VOCABULARY + 1)
    draw = lambda *size: torch.multinomial(frequencies, int(torch.tensor(size).prod()), True, generator=g).reshape(size)
    table, text = draw(VOCABULARY, VOCABULARY), draw(n, LENGTH)
    for t in range(2, LENGTH):
        follows = torch.rand(n, generator=g) >= doubt
        text[:, t] = torch.where(follows, table[text[:, t - 2], text[:, t - 1]], text[:, t])
    return text


class Transformer(torch.nn.Module):
    """One causal layer; .fc is the head."""

    def __init__(self):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(VOCABULARY, 64), torch.nn.Parameter(.1 * torch.randn(LENGTH, 64))
        self.layer = torch.nn.TransformerEncoderLayer(64, 4, 256, dropout=0, batch_first=True, norm_first=True)
        self.norm, self.narrow = torch.nn.LayerNorm(64), torch.nn.Linear(64, WIDTH)
        self.fc = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, text):
        mask = torch.full((text.shape[1],) * 2, -torch.inf).triu(1)
        return self.fc(self.narrow(self.norm(self.layer(self.tokens(text) + self.places[:text.shape[1]], mask))))


def targets(text):
    """(text, next tokens): what comes after the last, and after the first, which nothing foretells, is left out."""
    y = torch.full_like(text, -100)
    y[:, 1:-1] = text[:, 2:]
    return text, y


def train(model, text, epochs, after, size=64):
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
    for epoch in range(1, epochs + 1):
        for part in torch.randperm(len(text)).split(size):
            x, y = targets(text[part])
            loss = torch.nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        after(epoch)


a = arguments(__doc__)
for name, doubt in (("certain", 0), ("doubtful", .3)):
    text, model = sentences(128 if a.small else 1024, doubt), Transformer()
    meter = collapse.callbacks.Meter(text.split(64), every=2, split=targets, ignore_index=-100, keep="states")
    train(model, text, 2 if a.small else 32, lambda epoch: meter(model, epoch))
    print(name, meter.history.rows()[-1])
    meter.history.plot(os.path.join(a.out, "vocabulary.svg" if doubt else "vocabulary-certain.svg"),
                       ["train/nc1_trace_ratio", "train/nc3_centred", "train/nc2_rank_d"])
