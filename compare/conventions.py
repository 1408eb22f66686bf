"""Which of the library's measures is which of ours, by which convention, and the same formulas in float64.

A Row says how to get our number from `collapse measure --json`, and gives a definition of both numbers in float64.
Where the two definitions are one the numbers must agree; where not, the reason is written here, and it is checked:
each program must agree with its own definition. docs/internal/reference-library.md tells it in words.
"""

import collections

import numpy as np

# ours(runs) gets the JSON documents of three calls: "sample", "class" (--imbalance class), "nobias" (without --bias).
# lib and mine are the float64 definitions of the library's and of our number, functions of Stats.
Row = collections.namedtuple("Row", "library key ours lib mine reason")


class Stats:
    """Means and residuals in float64. lib_mean is the library's global mean: the mean of the class means."""

    def __init__(self, data):
        h, w, b = (np.asarray(data[name], np.float64) for name in ("features", "weights", "bias"))
        y = data["labels"]
        self.w, self.k = w, len(w)
        self.mu = segment_means(h, y, self.k)
        self.sample_mean, self.lib_mean = h.mean(0), self.mu.mean(0)
        r = h - self.mu[y]
        squares = (r * r).sum(1)
        self.variance = np.bincount(y, squares) / np.bincount(y)
        self.r = r
        nearest = ((self.mu ** 2).sum(1) - 2 * h @ self.mu.T).argmin(1)
        self.agreement = ((h @ w.T).argmax(1) == nearest).mean()
        self.agreement_with_bias = ((h @ w.T + b).argmax(1) == nearest).mean()
        if "ood" in data:
            ood = np.asarray(data["ood"], np.float64)
            self.ood_sample_mean, self.ood_lib_mean = ood.mean(0), segment_means(ood, data["ood_labels"], self.k).mean(0)

    def nc1(self, mean, keep=1e-6):
        """tr(Σ_W Σ_B⁺)/K from the singular values of the centred means; values below keep of the largest eigenvalue are 0."""
        _, s, v = np.linalg.svd(self.mu - mean, full_matrices=False)
        v, s = v[s ** 2 > keep * s[0] ** 2], s[s ** 2 > keep * s[0] ** 2]
        return ((self.r @ v.T / s) ** 2).sum() / len(self.r)

    def quotient(self, mean):
        return (self.r ** 2).sum() / len(self.r) / (((self.mu - mean) ** 2).sum() / self.k)

    def cdnv(self):
        i, j = np.triu_indices(self.k, 1)
        return np.mean((self.variance[i] + self.variance[j]) / 2 / ((self.mu[i] - self.mu[j]) ** 2).sum(1))

    def pair_variance(self, mean, kernel):
        m = self.mu - mean
        m = m / np.linalg.norm(m, axis=1, keepdims=True)
        i, j = np.triu_indices(self.k, 1)
        return np.var(kernel(np.linalg.norm(m[i] - m[j], axis=1)))

    def structure(self, a, mean):
        """‖U(a Mᵀ) − E‖ with M the centred means; a None stands for M itself."""
        m = self.mu - mean
        gram = (m if a is None else a) @ m.T
        return np.linalg.norm(gram / np.linalg.norm(gram) - (np.eye(self.k) - 1 / self.k) / np.sqrt(self.k - 1))

    def dots(self, mean):
        return (self.w * (self.mu - mean)).sum(1)

    def cosines(self, mean):
        return self.dots(mean) / np.linalg.norm(self.w, axis=1) / np.linalg.norm(self.mu - mean, axis=1)

    def norms(self, mean):
        return np.linalg.norm(self.mu - mean, axis=1).mean()

    def ood(self, mean):
        return np.abs(self.mu @ mean / np.linalg.norm(self.mu, axis=1) / np.linalg.norm(mean)).mean()


def segment_means(h, y, k):
    return np.stack([h[y == c].mean(0) for c in range(k)])


CLASS_MEAN = "the library centres at the mean of class means, we at the mean of all samples"
MIXED = CLASS_MEAN + "; `--imbalance class` changes Σ_W with it, so neither switch gives the library's mixture"


def measure(key, run="sample"):
    return lambda runs: runs[run]["measures"][key]


def vector(key, run="sample"):
    return lambda runs: np.array(runs[run]["per_class"][key], float)


def rebuilt_quotient(runs):
    return runs["sample"]["measures"]["trace_within"] / runs["class"]["measures"]["trace_between"]


def centred(library, key, lib, mine=None):
    """A measure of centred means: ours as it comes, and ours under --imbalance class, which centres as the library does."""
    ours = measure(key)
    mine = mine or lib
    return [Row(library, key, ours, lambda s: lib(s, s.lib_mean), lambda s: mine(s, s.sample_mean), CLASS_MEAN),
            Row(library, key + " (--imbalance class)", measure(key, "class"), lambda s: lib(s, s.lib_mean), lambda s: mine(s, s.lib_mean), "")]


ROWS = [
    Row("nc1_pinv", "nc1_pinv", measure("nc1_pinv"), lambda s: s.nc1(s.lib_mean), lambda s: s.nc1(s.sample_mean), MIXED),
    Row("nc1_svd", "nc1_pinv", measure("nc1_pinv"), lambda s: s.nc1(s.lib_mean), lambda s: s.nc1(s.sample_mean), MIXED),
    Row("nc1_quot", "nc1_trace_ratio", measure("nc1_trace_ratio"), lambda s: s.quotient(s.lib_mean), lambda s: s.quotient(s.sample_mean), MIXED),
    Row("nc1_quot", "trace_within / trace_between (--imbalance class)", rebuilt_quotient,
        lambda s: s.quotient(s.lib_mean), lambda s: s.quotient(s.lib_mean), ""),
    Row("nc1_cdnv", "cdnv", measure("cdnv"), Stats.cdnv, Stats.cdnv, ""),
    *centred("nc2_etf_err", "nc2_means_etf_centred", lambda s, mean: s.structure(None, mean)),
    *centred("nc2g_dist", "gnc2_distance", lambda s, mean: s.pair_variance(mean, lambda x: x)),
    *centred("nc2g_log", "gnc2_log", lambda s, mean: s.pair_variance(mean, lambda x: -np.log(x))),
    *centred("nc3_dual_err", "nc3_gram", lambda s, mean: s.structure(s.w, mean)),
    Row("nc3u_uni_dual", "nc3_uniform_duality", measure("nc3_uniform_duality"), lambda s: s.dots(s.lib_mean).var(ddof=1),
        lambda s: s.cosines(s.sample_mean).var(), "the library takes the variance of raw products, divisor K−1; we of cosines, divisor K"),
    Row("nc3u_uni_dual", "variance of per_class.nc3_product (--imbalance class), divisor K−1", lambda runs: vector("nc3_product", "class")(runs).var(ddof=1),
        lambda s: s.dots(s.lib_mean).var(ddof=1), lambda s: s.dots(s.lib_mean).var(ddof=1), ""),
    Row("nc4_agree", "1 − nc4_ncc_mismatch", lambda runs: 1 - measure("nc4_ncc_mismatch")(runs), lambda s: s.agreement,
        lambda s: s.agreement_with_bias, "the library's linear decisions leave the bias out"),
    Row("nc4_agree", "1 − nc4_ncc_mismatch, called without --bias", lambda runs: 1 - measure("nc4_ncc_mismatch", "nobias")(runs),
        lambda s: s.agreement, lambda s: s.agreement, ""),
    Row("nc5_ood_dev", "nc5_ood", measure("nc5_ood"), lambda s: s.ood(s.ood_lib_mean), lambda s: s.ood(s.ood_sample_mean),
        "the library's out-of-distribution mean is the mean of its class means, ours that of all its samples"),
    Row("mean_norms", "mean of per_class.centred_norm (--imbalance class)", lambda runs: vector("centred_norm", "class")(runs).mean(),
        lambda s: s.norms(s.lib_mean), lambda s: s.norms(s.lib_mean), ""),
    Row("similarities_cos", "mean of per_class.nc3_cosine (--imbalance class)", lambda runs: vector("nc3_cosine", "class")(runs).mean(),
        lambda s: s.cosines(s.lib_mean).mean(), lambda s: s.cosines(s.lib_mean).mean(), ""),
    # ‖ŵ − m̂‖² = 2 − 2 cos, the same number by another road.
    Row("distance_norms", "mean of per_class.nc3_distance (--imbalance class)", lambda runs: vector("nc3_distance", "class")(runs).mean(),
        lambda s: np.sqrt(2 - 2 * s.cosines(s.lib_mean)).mean(), lambda s: np.sqrt(2 - 2 * s.cosines(s.lib_mean)).mean(), ""),
]
