package measure

// Keys of NC2.
const (
	KeyNC2W             = "nc2_w"
	KeyNC2WCentred      = "nc2_w_centred"
	KeyNC2WNormCV       = "nc2_w_norm_cv"
	KeyNC2WCosDeviation = "nc2_w_cos_deviation"
	KeyNC2WCosStd       = "nc2_w_cos_std"
	KeyNC2WCoherence    = "nc2_w_coherence"
	KeyNC2WMinorityCos  = "nc2_w_minority_cos"
	KeyNC2WSELI         = "nc2_w_seli"
	KeyNC2MeansSELI     = "nc2_means_seli"
	KeyGNC2WMargin      = "gnc2_w_margin"
	KeyNC2MeansETF      = "nc2_means_etf"
	KeyNC2MeansCentred  = "nc2_means_etf_centred"
	KeyNC2MeansOF       = "nc2_means_of"
	KeyNC2NormCV        = "nc2_norm_cv"
	KeyNC2CosDeviation  = "nc2_cos_deviation"
	KeyNC2CosMax        = "nc2_cos_max_deviation"
	KeyNC2CosStd        = "nc2_cos_std"
	KeyNC2Coherence     = "nc2_coherence"
	KeyNC2RankD         = "nc2_rank_d"
	KeyGNC2Distance     = "gnc2_distance"
	KeyGNC2Log          = "gnc2_log"
	KeyGNC2Riesz        = "gnc2_riesz"
)

// nc2Rows are the rows of NC2, in the order of tables.
var nc2Rows = []Definition{
	{Key: KeyNC2W, Group: "NC2", Name: "classifier against a simplex ETF",
		Formula: "‖WWᵀ/‖WWᵀ‖ − E‖, E = (I − 11ᵀ/K)/√(K−1)", Sample: noWeighting, Class: noWeighting, Source: "ZHU (7), ZHOU (7)",
		Pitfall: "W is not centred (ZHOU's code centres it); cannot reach 0 if d < K−1: see nc2_rank_d.",
		needs:   needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(1)},
	{Key: KeyNC2WCentred, Group: "NC2", Name: "centred classifier against a simplex ETF",
		Formula: "‖U(W_cW_cᵀ) − E‖, W_c = W − 1w_Gᵀ", Sample: noWeighting, Class: noWeighting, Source: "ZHOU's code",
		Pitfall: "softmax does not see w_G; cannot reach 0 if d < K−1.",
		needs:   needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(2), OfTwo: oppositeRows},
	{Key: KeyNC2WNormCV, Group: "NC2", Name: "variation of the classifier's norms",
		Formula: "standard deviation / mean of ‖w_k‖ over classes", Sample: noWeighting, Class: noWeighting, Source: "Papyan, Han & Donoho 2020, Fig. 2", Pitfall: "divisor K; W is not centred.",
		needs: needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(1), compute: rowVariation},
	{Key: KeyNC2WCosDeviation, Group: "NC2", Name: "mean deviation of the classifier's angles",
		Formula: "mean over i<j of |cos(w_i, w_j) + 1/(K−1)|", Sample: noWeighting, Class: noWeighting, Source: "Papyan, Han & Donoho 2020, Fig. 4", Pitfall: "W is not centred; undefined if a row is zero.",
		needs: needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(1), pairs: pairAverage},
	{Key: KeyNC2WCosStd, Group: "NC2", Name: "spread of the classifier's angles",
		Formula: "standard deviation over i<j of cos(w_i, w_j)", Sample: noWeighting, Class: noWeighting, Source: "Papyan, Han & Donoho 2020, Fig. 3", Pitfall: "0 for any equal angles, not only those of a simplex.",
		needs: needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(1), pairs: pairAverage, OfTwo: oppositeRows},
	{Key: KeyNC2WCoherence, Group: "NC2", Name: "coherence of the classifier",
		Formula: "max over i<j of |cos(w_i, w_j)|", Sample: noWeighting, Class: noWeighting, Source: "Strohmer & Heath 2003; Welch 1974", Pitfall: "1/(K−1) for a simplex, 0 for orthogonal rows; at least √((K−d)/(d(K−1))) where d < K.",
		needs: needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: ofForm(oneCosine), pairs: pairExtreme},
	{Key: KeyNC2WMinorityCos, Group: "NC2", Name: "cosine of small classes' classifiers",
		Formula: "mean over i<j of cos(w_i, w_j), over classes with at most half as many samples as the largest", Sample: noWeighting, Class: noWeighting, Source: "after Fang et al. 2021 (minority collapse)",
		Pitfall: "−1/(K−1) for a simplex, 1 where small classes share one classifier. Undefined where fewer than two classes are small.",
		needs:   needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(.25), compute: minorityCosine},
	{Key: KeyNC2WSELI, Group: "NC2", Name: "centred classifier against the geometry of the class sizes",
		Formula: "‖U(W_cW_cᵀ) − U((P N P)^½)‖, N = diag(n_k), P = I − 11ᵀ/K", Sample: noWeighting, Class: noWeighting, Source: "after Thrampoulidis et al. 2022 (SELI)",
		Pitfall: "nc2_w_centred where classes are equal; cannot reach 0 if d < K−1.", Expensive: true,
		needs: needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(.5), OfTwo: oppositeRows},
	{Key: KeyNC2MeansSELI, Group: "NC2", Name: "class means against the geometry of the class sizes",
		Formula: "‖U(M_cM_cᵀ) − U(((P N P)^½)⁺)‖, M_c the class means around their own mean", Sample: unweighted, Class: unweighted, Source: "after Thrampoulidis et al. 2022 (SELI)",
		Pitfall: "centred by the mean of the class means, whatever the weighting; cannot reach 0 if d < K−1.", Expensive: true,
		needs: needSeveral | needApart, Chance: NotShuffled, rounding: sizeOne(.5), OfTwo: oppositeMeans},
	{Key: KeyGNC2WMargin, Group: "NC2", Name: "smallest one-vs-rest margin of the classifier",
		Formula: "min over k of the distance of ŵ_k to the convex hull of the other ŵ_j, ŵ = w/‖w‖", Sample: noWeighting, Class: noWeighting, Source: "Jiang et al. 2023 (generalised NC2)",
		Pitfall: "K/(K−1) for a simplex, the largest; for d < K−1 the largest is known for few K and d (formulas.md, 4). 0 where one ŵ_k lies among the others.", Expensive: true,
		needs: needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: sizeOne(.5)},
	{Key: KeyNC2MeansETF, Group: "NC2", Name: "class means against a simplex ETF",
		Formula: "‖U(H̄ᵀH̄) − E‖, H̄ the uncentred class means, U(A) = A/‖A‖", Sample: unweighted, Class: unweighted, Source: "TB (27)",
		Pitfall: "uncentred: its limit is 0 only where the means sum to zero.",
		needs:   needSeveral | needSized, Chance: SmallByChance, rounding: sizeOne(1)},
	{Key: KeyNC2MeansCentred, Group: "NC2", Name: "centred class means against a simplex ETF",
		Formula: "‖U(H_cᵀH_c) − E‖, H_c = H̄ − h_G1ᵀ", Sample: meanSample, Class: meanClass, Source: "TB Figs 5, 10", Pitfall: "centring changes the target.",
		needs: needSeveral | needApart, Chance: SmallByChance, rounding: sizeOne(1), OfTwo: oppositeMeans},
	{Key: KeyNC2MeansOF, Group: "NC2", Name: "class means against an orthogonal frame",
		Formula: "‖U(H̄ᵀH̄) − I/√K‖", Sample: unweighted, Class: unweighted, Source: "TB", Pitfall: "0 for models without bias, not for ETFs.",
		needs: needSeveral | needSized, Chance: SmallByChance, rounding: sizeOne(1)},
	{Key: KeyNC2NormCV, Group: "NC2", Name: "variation of norms",
		Formula: "standard deviation / mean of ‖μ_k − h_G‖ over classes", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "divisor K.",
		needs: needSeveral | needApart, Chance: SmallByChance, rounding: sizeOne(1), OfTwo: ofSizes, compute: normVariation},
	{Key: KeyNC2CosDeviation, Group: "NC2", Name: "mean deviation of angles",
		Formula: "mean over i<j of |cos(μ_i − h_G, μ_j − h_G) + 1/(K−1)|", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "undefined if a class mean is the global mean.",
		needs: needSeveral | needApart | needDirected, Chance: SmallByChance, rounding: sizeOne(1), pairs: pairAverage, OfTwo: oppositeMeans},
	{Key: KeyNC2CosMax, Group: "NC2", Name: "largest deviation of angles",
		Formula: "max over i<j of |cos(μ_i − h_G, μ_j − h_G) + 1/(K−1)|", Sample: meanSample, Class: meanClass, Source: "ours", Pitfall: "as nc2_cos_deviation.",
		needs: needSeveral | needApart | needDirected, Chance: SmallByChance, rounding: ofForm(oneCosine), pairs: pairExtreme, OfTwo: oppositeMeans},
	{Key: KeyNC2CosStd, Group: "NC2", Name: "spread of angles",
		Formula: "standard deviation over i<j of cos(μ_i − h_G, μ_j − h_G)", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020, Fig. 3", Pitfall: "0 for any equal angles, not only those of a simplex.",
		needs: needSeveral | needApart | needDirected, Chance: NotShuffled, rounding: sizeOne(1), pairs: pairAverage, OfTwo: oppositeMeans},
	{Key: KeyNC2Coherence, Group: "NC2", Name: "coherence of the class means",
		Formula: "max over i<j of |cos(μ_i − h_G, μ_j − h_G)|", Sample: meanSample, Class: meanClass, Source: "Strohmer & Heath 2003; Welch 1974", Pitfall: "1/(K−1) for a simplex, and never less; at least √((K−d)/(d(K−1))) where d < K−1. Always 1 for K = 2.",
		needs: needSeveral | needApart | needDirected, Chance: NotShuffled, rounding: ofForm(oneCosine), pairs: pairExtreme, OfTwo: oppositeMeans},
	{Key: KeyNC2RankD, Group: "NC2", Name: "classifier against the best rank-d ETF",
		Formula: "min over projections Q, Q1 = 0, rank Q = d of ‖U(WWᵀ) − Q/√d‖", Sample: noWeighting, Class: noWeighting, Source: "ours (ZHOU Thm 3.1, d < K−1)",
		Pitfall: "defined only for d < K−1.",
		needs:   needWeights | needSeveral | needNonzeroW | needNoFeatures, Chance: NotShuffled, rounding: ofForm(projection)},
	{Key: KeyGNC2Distance, Group: "NC2", Name: "variance of pair distances",
		Formula: "variance over i<j of ‖m̂_i − m̂_j‖, m̂_k = (μ_k − h_G)/‖μ_k − h_G‖", Sample: meanSample, Class: meanClass, Source: "Liu et al. 2023 (generalised NC2); reference library", Pitfall: "divisor K(K−1)/2.",
		needs: needSeveral | needApart | needDirected, Chance: SmallByChance, rounding: ofForm(variance), pairs: pairAverage, OfTwo: oppositeMeans},
	{Key: KeyGNC2Log, Group: "NC2", Name: "variance of logarithmic pair distances",
		Formula: "variance over i<j of log(1/‖m̂_i − m̂_j‖)", Sample: meanSample, Class: meanClass, Source: "Liu et al. 2023 (generalised NC2); reference library", Pitfall: "two means in one direction make it undefined.",
		needs: needSeveral | needApart | needDirected, Chance: SmallByChance, rounding: ofForm(variance), pairs: pairAverage, OfTwo: oppositeMeans},
	{Key: KeyGNC2Riesz, Group: "NC2", Name: "relative variance of the Riesz kernel",
		Formula: "variance over i<j of κ_ij = ‖m̂_i − m̂_j‖^−(d−2), divided by (mean κ)²", Sample: meanSample, Class: meanClass, Source: "Liu et al. 2023 (generalised NC2); reference library, divided by the squared mean",
		Pitfall: "the raw kernel leaves the range of numbers for large d; divided by its mean it cannot. Defined for d > 2.",
		needs:   needSeveral | needApart | needDirected, Chance: SmallByChance, rounding: ofForm(powers), pairs: pairExtreme, OfTwo: oppositeMeans},
}
