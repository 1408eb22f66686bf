"""Kinds of classifiers: small models that end in each, what a Tap takes from them, and what it refuses."""

import collections

from support import torch

D, K, N, T = 6, 4, 12, 5

if torch:
    from torch import nn
    from torch.nn import functional as F

    class Body(nn.Module):
        """A network with a linear layer, so that a classifier is never the only one."""

        def __init__(self, d=D):
            super().__init__()
            self.one, self.two = nn.Linear(8, 16), nn.Linear(16, d)

        def forward(self, x):
            return torch.tanh(self.two(torch.relu(self.one(x))))

    class Net(nn.Module):
        """body, then what a subclass's head(h) does."""

        def __init__(self, d=D):
            super().__init__()
            self.body = Body(d)
            self.build()

        def build(self):
            self.fc = nn.Linear(D, K)

        def features(self, x):
            return self.body(x)

        def head(self, h):
            return self.fc(h)

        def forward(self, x):
            return self.head(self.features(x))

    class DeclaredFirst(Net):
        def __init__(self):
            nn.Module.__init__(self)
            self.fc = nn.Linear(D, K)
            self.body = Body()

    class Sequence(Net):
        def build(self):
            self.head_ = nn.Sequential(nn.Dropout(0.5), nn.Linear(D, K))

        def head(self, h):
            return self.head_(h)

    class TwoLayers(Net):
        def build(self):
            self.mlp = nn.Sequential(nn.Linear(D, 9), nn.ReLU(), nn.Linear(9, K))

        def features(self, x):
            return torch.relu(self.mlp[0](self.body(x)))

        def head(self, h):
            return self.mlp[2](h)

    class Functional(Net):
        def head(self, h):
            return F.linear(h, self.fc.weight)

    class FunctionalBeforeALayer(Net):
        """A linear layer that is declared last and runs, but not as the classifier."""

        def build(self):
            self.fc = nn.Linear(D, K)
            self.aside = nn.Linear(D, K)

        def head(self, h):
            self.aside(h)
            return F.linear(h, self.fc.weight, self.fc.bias)

    class MatrixProduct(Net):
        def build(self):
            self.W, self.b = nn.Parameter(torch.randn(D, K)), nn.Parameter(torch.randn(K))

        def head(self, h):
            return h @ self.W + self.b

    class Einsum(Net):
        def build(self):
            self.W = nn.Parameter(torch.randn(K, D))

        def head(self, h):
            return torch.einsum("nd,kd->nk", h, self.W)

    class Addmm(Net):
        """As GPT-2's Conv1D."""

        def build(self):
            self.W, self.b = nn.Parameter(torch.randn(D, K)), nn.Parameter(torch.randn(K))

        def head(self, h):
            return torch.addmm(self.b, h, self.W)

    class Cosine(Net):
        def build(self):
            self.prototypes, self.scale = nn.Parameter(torch.randn(K, D)), 16.0

        def features(self, x):
            return F.normalize(self.body(x))

        def head(self, h):
            return self.scale * F.linear(h, F.normalize(self.prototypes))

    class Tied(nn.Module):
        """A language model whose output embedding is its input embedding: a layer that shares the parameter."""

        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(K, D)
            self.mix = nn.Linear(D, D)
            self.build()

        def build(self):
            self.lm_head = nn.Linear(D, K, bias=False)
            self.lm_head.weight = self.embed.weight

        def features(self, x):
            return torch.tanh(self.mix(self.embed(x)))

        def head(self, h):
            return self.lm_head(h)

        def forward(self, x):
            return self.head(self.features(x))

    class TiedFunctional(Tied):
        def build(self):
            pass

        def head(self, h):
            return h @ self.embed.weight.t()

    class PixelConvolution(Net):
        def build(self):
            self.conv = nn.Conv2d(D, K, 1)

        def head(self, h):
            return self.conv(h[:, :, None, None]).flatten(1)

    class DenseConvolution(Net):
        """A class for each pixel: logits (N, K, 2, 2)."""

        def __init__(self):
            super().__init__(d=D * 4)

        def build(self):
            self.conv = nn.Conv2d(D, K, 1)

        def features(self, x):
            return self.body(x).reshape(-1, D, 2, 2).permute(0, 2, 3, 1)

        def head(self, h):
            return self.conv(h.permute(0, 3, 1, 2))

    class WholeImageConvolution(Net):
        def __init__(self):
            super().__init__(d=24)

        def build(self):
            self.conv = nn.Conv2d(6, K, 2)

        def head(self, h):
            return self.conv(h.reshape(-1, 6, 2, 2)).flatten(1)

    class Lazy(Net):
        def build(self):
            self.fc = nn.LazyLinear(K)

    class WeightNorm(Net):
        def build(self):
            self.fc = nn.utils.weight_norm(nn.Linear(D, K))

    class Parametrized(Net):
        def build(self):
            self.fc = nn.utils.parametrizations.orthogonal(nn.Linear(D, K))

    class ParametrizedByItself(Net):
        """The product reads the very parameter, which another module holds."""

        def build(self):
            self.fc = nn.Linear(D, K)
            nn.utils.parametrize.register_parametrization(self.fc, "weight", nn.Identity())

    class Auxiliary(Net):
        """As GoogLeNet: a named tuple with the logits and those of an auxiliary classifier."""
        Outputs = collections.namedtuple("Outputs", "logits aux")

        def build(self):
            self.aux, self.fc = nn.Linear(16, K), nn.Linear(D, K)

        def forward(self, x):
            middle = torch.relu(self.body.one(x))
            return self.Outputs(self.fc(torch.tanh(self.body.two(middle))), self.aux(middle))

    class HuggingFace(Net):
        """An object with attributes: logits beside other tensors, one of which is a linear layer's output as well."""

        def forward(self, x):
            h = self.body(x)
            return collections.OrderedDict(loss=h.sum(), logits=self.fc(h), hidden_states=(self.body.one(x), h))

    class LogSoftmax(Net):
        def forward(self, x):
            return torch.log_softmax(super().forward(x), 1)

    class Softmax(Net):
        def forward(self, x):
            return torch.softmax(super().forward(x), 1)

    class SigmoidColumn(Net):
        """Two classes, one logit, squeezed."""

        def build(self):
            self.fc = nn.Linear(D, 1)

        def forward(self, x):
            return torch.sigmoid(super().forward(x)).squeeze(1)

    class Crops(Net):
        """The same classifier for two views of each sample, one behind the other."""

        def features(self, x):
            return torch.cat([self.body(x), self.body(-x)])

        def forward(self, x):
            return torch.cat([self.fc(self.body(x)), self.fc(self.body(-x))])

    class StackedCrops(Crops):
        def forward(self, x):
            return torch.stack([self.fc(self.body(x)), self.fc(self.body(-x))])

    class Wrapper(nn.Module):
        """As DistributedDataParallel."""

        def __init__(self):
            super().__init__()
            self.module = Net()

        def features(self, x):
            return self.module.features(x)

        def forward(self, x):
            return self.module(x)

    class TwoTasks(Net):
        def build(self):
            self.left, self.right = nn.Linear(D, K), nn.Linear(D, K + 1)

        def head(self, h):
            return self.left(h), self.right(h)

    class TwoViews(Net):
        def forward(self, x):
            return self.fc(self.body(x)), self.fc(self.body(-x))

    class Adapter(Net):
        """As LoRA: a low-rank product is added to that of the frozen layer."""

        def build(self):
            self.fc, self.a, self.b = nn.Linear(D, K), nn.Linear(D, 2, bias=False), nn.Linear(2, K, bias=False)

        def head(self, h):
            return self.fc(h) + self.b(self.a(h))

    class Ensemble(Net):
        def build(self):
            self.left, self.right = nn.Linear(D, K), nn.Linear(D, K)

        def head(self, h):
            return (self.left(h) + self.right(h)) / 2

    class Distances(Net):
        def build(self):
            self.prototypes = nn.Parameter(torch.randn(K, D))

        def head(self, h):
            return -torch.cdist(h, self.prototypes)

    class Cosh(Net):
        """A temperature that depends on the sample."""

        def head(self, h):
            return self.fc(h) * torch.cosh(h.sum(1, keepdim=True))


# name of the kind: (class, the module that is taken, what the model does to the product before it returns it)
FOUND = {
    "a linear layer": ("Net", "fc", "none"),
    "declared before the body": ("DeclaredFirst", "fc", "none"),
    "dropout and a linear layer in a Sequential": ("Sequence", "head_.1", "none"),
    "two layers": ("TwoLayers", "mlp.2", "none"),
    "F.linear with a layer's weight": ("Functional", "fc", "none"),
    "F.linear beside a later layer that is not it": ("FunctionalBeforeALayer", "fc", "none"),
    "a matrix product and a bias": ("MatrixProduct", "", "offset"),
    "einsum": ("Einsum", "", "none"),
    "addmm": ("Addmm", "", "none"),
    "cosine": ("Cosine", "", "scale"),
    "a language model with a tied layer": ("Tied", "lm_head", "none"),
    "a language model with tied weights in a product": ("TiedFunctional", "embed", "none"),
    "a 1×1 convolution": ("PixelConvolution", "conv", "none"),
    "a 1×1 convolution for each pixel": ("DenseConvolution", "conv", "none"),
    "a convolution over the whole image": ("WholeImageConvolution", "conv", "none"),
    "LazyLinear": ("Lazy", "fc", "none"),
    "weight norm": ("WeightNorm", "fc", "none"),
    "a parametrized layer": ("Parametrized", "fc", "none"),
    "a layer with a parametrization that changes nothing": ("ParametrizedByItself", "fc", "none"),
    "an auxiliary classifier": ("Auxiliary", "fc", "none"),
    "an object with logits": ("HuggingFace", "fc", "none"),
    "log_softmax": ("LogSoftmax", "fc", "log_softmax"),
    "softmax": ("Softmax", "fc", "softmax"),
    "one sigmoid": ("SigmoidColumn", "fc", "sigmoid"),
    "one classifier for two views": ("Crops", "fc", "none"),
    "one classifier for two views, stacked": ("StackedCrops", "fc", "none"),
    "a wrapper": ("Wrapper", "module.fc", "none"),
}

# name of the kind: (class, the calls that the error names)
REFUSED = {
    "two tasks": ("TwoTasks", ['Tap(model, folder, classifier="left")', 'Tap(model, folder, classifier="right")']),
    "two views in a tuple": ("TwoViews", ["Tap(model, folder, logits=0)", "Tap(model, folder, logits=1)"]),
    "an adapter": ("Adapter", ['Tap(model, folder, classifier=None, layers=["body"])']),
    "the mean of two classifiers": ("Ensemble", ['Tap(model, folder, classifier=None, layers=["body"])']),
    "distances to prototypes": ("Distances", ['Tap(model, folder, classifier=None, layers=["body"])']),
    "a temperature for each sample": ("Cosh", ['Tap(model, folder, classifier=None, layers=["body"])']),
}


def inputs(kind, seed=0):
    g = torch.Generator().manual_seed(seed)
    if kind.startswith("Tied"):
        return torch.randint(0, K, (N, T), generator=g)
    return torch.randn(N, 8, generator=g)


def build(kind):
    torch.manual_seed(5)
    return globals()[kind]().eval()


def logits_of(output):
    return output["logits"] if isinstance(output, dict) else getattr(output, "logits", output)
