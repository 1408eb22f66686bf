package measure

// Definition is one line of the registry: what a key means, and its pitfalls.
type Definition struct {
	Key     string // JSON key, stable
	Group   string // "NC1" … "NC5", "rank", "margin", "accuracy", "memorization", "configuration"
	Name    string
	Formula string
	// Sample and Class describe the weighting under each Imbalance.
	Sample, Class string
	Source        string // paper, with the letters of docs/measures.md
	Pitfall       string
	Expensive     bool // more than O(N·K·d): in "default" only below Options.Budget
}

// weighting returns the text for an Imbalance.
func (d *Definition) weighting(im Imbalance) string {
	if im == PerClass {
		return d.Class
	}
	return d.Sample
}

// Keys of the measures. The registry says what each means.
const (
	KeyNC1Pinv           = "nc1_pinv"
	KeyNC1TraceRatio     = "nc1_trace_ratio"
	KeyCDNV              = "cdnv"
	KeyTraceWithin       = "trace_within"
	KeyTraceBetween      = "trace_between"
	KeyRankBetween       = "rank_between"
	KeyRankCut           = "rank_between_cut"
	KeyDilation          = "dilation"
	KeyTestNC1Ratio      = "test_nc1_trace_ratio"
	KeyNC2W              = "nc2_w"
	KeyNC2MeansETF       = "nc2_means_etf"
	KeyNC2MeansCentred   = "nc2_means_etf_centred"
	KeyNC2MeansOF        = "nc2_means_of"
	KeyNC2NormCV         = "nc2_norm_cv"
	KeyNC2CosDeviation   = "nc2_cos_deviation"
	KeyNC2CosMax         = "nc2_cos_max_deviation"
	KeyNC2RankD          = "nc2_rank_d"
	KeyGNC2Distance      = "gnc2_distance"
	KeyGNC2Log           = "gnc2_log"
	KeyGNC2Riesz         = "gnc2_riesz"
	KeyNC3Gram           = "nc3_gram"
	KeyNC3Direct         = "nc3_direct"
	KeyNC3RankD          = "nc3_rank_d"
	KeyNC3Duality        = "nc3_uniform_duality"
	KeyNC4Bias           = "nc4_bias"
	KeyNC4NCCMismatch    = "nc4_ncc_mismatch"
	KeyNC5OOD            = "nc5_ood"
	KeyNumericalRank     = "numerical_rank"
	KeyMarginMean        = "cosine_margin_mean"
	KeyMarginMin         = "cosine_margin_min"
	KeyMarginMax         = "cosine_margin_max"
	KeyAccuracy          = "accuracy"
	KeyNCCAccuracy       = "ncc_accuracy"
	KeyTestAccuracy      = "test_accuracy"
	KeyMemRedrawn        = "memorization_redrawn"
	KeyMemFlipped        = "memorization_flipped"
	KeyMemMean           = "memorization_mean"
	KeyMemNormalised     = "memorization_normalised"
	KeyMeanNormRatio     = "mean_norm_ratio"
	KeyConfSmallestEntry = "config_smallest_entry"
	KeyConfMaxCos        = "config_max_abs_cos"
	KeyConfOverlap       = "config_support_overlap"
	KeyConfWeightAngle   = "config_weight_angle"

	KeyCDNVStd           = "cdnv_std"
	KeyCDNVMax           = "cdnv_max"
	KeyVCI               = "vci"
	KeyNC2WCentred       = "nc2_w_centred"
	KeyNC2WNormCV        = "nc2_w_norm_cv"
	KeyNC2WCosDeviation  = "nc2_w_cos_deviation"
	KeyNC2WCosStd        = "nc2_w_cos_std"
	KeyNC2WCoherence     = "nc2_w_coherence"
	KeyNC2WMinorityCos   = "nc2_w_minority_cos"
	KeyParticipation     = "participation_between"
	KeyNC2WSELI          = "nc2_w_seli"
	KeyNC2MeansSELI      = "nc2_means_seli"
	KeyGNC2WMargin       = "gnc2_w_margin"
	KeyNC2CosStd         = "nc2_cos_std"
	KeyNC2Coherence      = "nc2_coherence"
	KeyNC3Centred        = "nc3_centred"
	KeyWMeanAlignment    = "w_mean_alignment"
	KeyTestNCCMismatch   = "test_nc4_ncc_mismatch"
	KeyTestNCCAccuracy   = "test_ncc_accuracy"
	KeyFeatureRank       = "feature_rank"
	KeyFeatureStableRank = "feature_stable_rank"
	KeyOODMaxSoftmax     = "ood_auroc_msp"
	KeyOODMaxLogit       = "ood_auroc_max_logit"
	KeyOODEnergy         = "ood_auroc_energy"
	KeyOODNECO           = "ood_auroc_neco"
	KeyOODMahalanobis    = "ood_auroc_mahalanobis"
	KeyMinClassCount     = "min_class_count"
)

// Weightings that many lines share.
const (
	unweighted  = "class means count the same; h_G does not enter"
	meanSample  = "class means count the same; h_G is the mean of all samples"
	meanClass   = "class means count the same; h_G is the mean of the class means"
	nc1Sample   = "Σ_W = (1/N) Σ_i; Σ_B = (1/K) Σ_k around the mean of all samples"
	nc1Class    = "Σ_W = (1/K) Σ_k (1/n_k) Σ_i; Σ_B = (1/K) Σ_k around the mean of the class means"
	rateSample  = "share of samples"
	rateClass   = "mean over classes of the share of a class's samples"
	noWeighting = "no weighting"
	oodSets     = "known: the test samples, or the training samples where there are none; every sample counts the same, ties one half"
)

// definitions is the registry, in the order of tables.
var definitions = []Definition{
	{Key: KeyNC1Pinv, Group: "NC1", Name: "within-class variability collapse",
		Formula: "(1/K) tr(Σ_W Σ_B⁺), computed as (1/N) Σ_i ‖(M̃M̃ᵀ)⁻¹M̃(h_i − μ_k)‖² with M̃ the centred means in an orthonormal basis",
		Sample:  nc1Sample, Class: nc1Class, Source: "Papyan, Han & Donoho 2020; ZHU, ZHOU, TB, M-D (2)",
		Pitfall: "small true eigenvalues of Σ_B make it huge: read rank_between and uncertainty beside it. A float32 pseudo-inverse can be wrong by a factor of a million."},
	{Key: KeyNC1TraceRatio, Group: "NC1", Name: "trace ratio",
		Formula: "tr Σ_W / tr Σ_B", Sample: nc1Sample, Class: nc1Class, Source: "Hui, Belkin & Nakkiran 2022; reference library",
		Pitfall: "no 1/K: another scale than nc1_pinv."},
	{Key: KeyCDNV, Group: "NC1", Name: "class-distance normalised variance",
		Formula: "mean over i<j of (v_i + v_j) / (2 ‖μ_i − μ_j‖²), v_k = (1/n_k) Σ ‖h − μ_k‖²", Sample: unweighted, Class: unweighted,
		Source: "Galanti, György & Hutter 2022", Pitfall: "biased variances (divisor n_k); two classes with one mean make it undefined."},
	{Key: KeyCDNVStd, Group: "NC1", Name: "spread of the class-distance normalised variance",
		Formula: "standard deviation over i<j of (v_i + v_j) / (2 ‖μ_i − μ_j‖²)", Sample: unweighted, Class: unweighted,
		Source: "Galanti, György & Hutter 2022 (the pairs); ours", Pitfall: "divisor K(K−1)/2; the report's histogram shows the pairs."},
	{Key: KeyCDNVMax, Group: "NC1", Name: "largest class-distance normalised variance of a pair",
		Formula: "max over i<j of (v_i + v_j) / (2 ‖μ_i − μ_j‖²)", Sample: unweighted, Class: unweighted,
		Source: "Galanti, György & Hutter 2022 (the pairs); ours", Pitfall: "the worst pair: grows with the number of classes."},
	{Key: KeyVCI, Group: "NC1", Name: "variability collapse index",
		Formula: "1 − tr(Σ_T⁺ Σ_B)/rank Σ_B, Σ_T = Σ_W + Σ_B", Sample: nc1Sample, Class: nc1Class, Source: "Xu & Liu 2023",
		Pitfall: "in [0,1], the same for any invertible map of the features; defined for N ≥ d + K: below, it is 0 for almost any features, collapsed or not.", Expensive: true},
	{Key: KeyTraceWithin, Group: "NC1", Name: "within-class variance",
		Formula: "tr Σ_W", Sample: nc1Sample, Class: nc1Class, Source: "M-D", Pitfall: "in squared feature units: not comparable between losses."},
	{Key: KeyTraceBetween, Group: "NC1", Name: "between-class variance",
		Formula: "tr Σ_B = (1/K) Σ_k ‖μ_k − h_G‖²", Sample: meanSample, Class: meanClass, Source: "M-D", Pitfall: "in squared feature units."},
	{Key: KeyRankBetween, Group: "NC1", Name: "rank of Σ_B",
		Formula: "eigenvalues of Σ_B above the rounding of the class means in their direction, and above rcond·g_max if rcond was chosen", Sample: meanSample, Class: meanClass,
		Source: "ours", Pitfall: "at most min(d, K−1); below that nc1_pinv sees only the kept directions, and the headline gives no verdict."},
	{Key: KeyRankCut, Group: "NC1", Name: "eigenvalues of Σ_B cut",
		Formula: "min(d, K−1) − rank_between", Sample: meanSample, Class: meanClass,
		Source: "ours", Pitfall: "counts directions that are not there (dependent means), are hidden by rounding, or lie below a chosen rcond; nc1_pinv leaves them out."},
	{Key: KeyParticipation, Group: "NC1", Name: "directions of the class means",
		Formula: "(tr Σ_B)²/‖Σ_B‖², the participation ratio of its eigenvalues", Sample: meanSample, Class: meanClass,
		Source: "ours, for the low ranks of Súkeník et al. 2024", Pitfall: "in [1, K−1], K−1 for a simplex; r for r equal directions, and not a rank: small directions hardly count."},
	{Key: KeyDilation, Group: "NC1", Name: "dilation",
		Formula: "√nc1_pinv of the test features around their own class means", Sample: nc1Sample, Class: nc1Class, Source: "M-D, y axis of Fig. 1",
		Pitfall: "M-D's word means nc1_pinv of the test features, whose root they draw; the released code computes neither."},
	{Key: KeyTestNC1Ratio, Group: "NC1", Name: "trace ratio on test features",
		Formula: "tr Σ_W / tr Σ_B of the test features", Sample: nc1Sample, Class: nc1Class, Source: "ours", Pitfall: "as nc1_trace_ratio."},

	{Key: KeyNC2W, Group: "NC2", Name: "classifier against a simplex ETF",
		Formula: "‖WWᵀ/‖WWᵀ‖ − E‖, E = (I − 11ᵀ/K)/√(K−1)", Sample: noWeighting, Class: noWeighting, Source: "ZHU (7), ZHOU (7)",
		Pitfall: "W is not centred (ZHOU's code centres it); cannot reach 0 if d < K−1: see nc2_rank_d."},
	{Key: KeyNC2WCentred, Group: "NC2", Name: "centred classifier against a simplex ETF",
		Formula: "‖U(W_cW_cᵀ) − E‖, W_c = W − 1w_Gᵀ", Sample: noWeighting, Class: noWeighting, Source: "ZHOU's code",
		Pitfall: "softmax does not see w_G; cannot reach 0 if d < K−1."},
	{Key: KeyNC2WNormCV, Group: "NC2", Name: "variation of the classifier's norms",
		Formula: "standard deviation / mean of ‖w_k‖ over classes", Sample: noWeighting, Class: noWeighting, Source: "Papyan, Han & Donoho 2020, Fig. 2", Pitfall: "divisor K; W is not centred."},
	{Key: KeyNC2WCosDeviation, Group: "NC2", Name: "mean deviation of the classifier's angles",
		Formula: "mean over i<j of |cos(w_i, w_j) + 1/(K−1)|", Sample: noWeighting, Class: noWeighting, Source: "Papyan, Han & Donoho 2020, Fig. 4", Pitfall: "W is not centred; undefined if a row is zero."},
	{Key: KeyNC2WCosStd, Group: "NC2", Name: "spread of the classifier's angles",
		Formula: "standard deviation over i<j of cos(w_i, w_j)", Sample: noWeighting, Class: noWeighting, Source: "Papyan, Han & Donoho 2020, Fig. 3", Pitfall: "0 for any equal angles, not only those of a simplex."},
	{Key: KeyNC2WCoherence, Group: "NC2", Name: "coherence of the classifier",
		Formula: "max over i<j of |cos(w_i, w_j)|", Sample: noWeighting, Class: noWeighting, Source: "Strohmer & Heath 2003; Welch 1974", Pitfall: "1/(K−1) for a simplex, 0 for orthogonal rows; at least √((K−d)/(d(K−1))) where d < K."},
	{Key: KeyNC2WMinorityCos, Group: "NC2", Name: "cosine of small classes' classifiers",
		Formula: "mean over i<j of cos(w_i, w_j), over classes with at most half as many samples as the largest", Sample: noWeighting, Class: noWeighting, Source: "after Fang et al. 2021 (minority collapse)",
		Pitfall: "−1/(K−1) for a simplex, 1 where small classes share one classifier. Undefined where fewer than two classes are small."},
	{Key: KeyNC2WSELI, Group: "NC2", Name: "centred classifier against the geometry of the class sizes",
		Formula: "‖U(W_cW_cᵀ) − U((P N P)^½)‖, N = diag(n_k), P = I − 11ᵀ/K", Sample: noWeighting, Class: noWeighting, Source: "after Thrampoulidis et al. 2022 (SELI)",
		Pitfall: "nc2_w_centred where classes are equal; cannot reach 0 if d < K−1.", Expensive: true},
	{Key: KeyNC2MeansSELI, Group: "NC2", Name: "class means against the geometry of the class sizes",
		Formula: "‖U(M_cM_cᵀ) − U(((P N P)^½)⁺)‖, M_c the class means around their own mean", Sample: unweighted, Class: unweighted, Source: "after Thrampoulidis et al. 2022 (SELI)",
		Pitfall: "centred by the mean of the class means, whatever the weighting; cannot reach 0 if d < K−1.", Expensive: true},
	{Key: KeyGNC2WMargin, Group: "NC2", Name: "smallest one-vs-rest margin of the classifier",
		Formula: "min over k of the distance of ŵ_k to the convex hull of the other ŵ_j, ŵ = w/‖w‖", Sample: noWeighting, Class: noWeighting, Source: "Jiang et al. 2023 (generalised NC2)",
		Pitfall: "K/(K−1) for a simplex, the largest; for d < K−1 the largest is known for few K and d (formulas.md, 4). 0 where one ŵ_k lies among the others.", Expensive: true},
	{Key: KeyNC2MeansETF, Group: "NC2", Name: "class means against a simplex ETF",
		Formula: "‖U(H̄ᵀH̄) − E‖, H̄ the uncentred class means, U(A) = A/‖A‖", Sample: unweighted, Class: unweighted, Source: "TB (27)",
		Pitfall: "uncentred: its limit is 0 only where the means sum to zero."},
	{Key: KeyNC2MeansCentred, Group: "NC2", Name: "centred class means against a simplex ETF",
		Formula: "‖U(H_cᵀH_c) − E‖, H_c = H̄ − h_G1ᵀ", Sample: meanSample, Class: meanClass, Source: "TB Figs 5, 10", Pitfall: "centring changes the target."},
	{Key: KeyNC2MeansOF, Group: "NC2", Name: "class means against an orthogonal frame",
		Formula: "‖U(H̄ᵀH̄) − I/√K‖", Sample: unweighted, Class: unweighted, Source: "TB", Pitfall: "0 for models without bias, not for ETFs."},
	{Key: KeyNC2NormCV, Group: "NC2", Name: "variation of norms",
		Formula: "standard deviation / mean of ‖μ_k − h_G‖ over classes", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "divisor K."},
	{Key: KeyNC2CosDeviation, Group: "NC2", Name: "mean deviation of angles",
		Formula: "mean over i<j of |cos(μ_i − h_G, μ_j − h_G) + 1/(K−1)|", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "undefined if a class mean is the global mean."},
	{Key: KeyNC2CosMax, Group: "NC2", Name: "largest deviation of angles",
		Formula: "max over i<j of |cos(μ_i − h_G, μ_j − h_G) + 1/(K−1)|", Sample: meanSample, Class: meanClass, Source: "ours", Pitfall: "as nc2_cos_deviation."},
	{Key: KeyNC2CosStd, Group: "NC2", Name: "spread of angles",
		Formula: "standard deviation over i<j of cos(μ_i − h_G, μ_j − h_G)", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020, Fig. 3", Pitfall: "0 for any equal angles, not only those of a simplex."},
	{Key: KeyNC2Coherence, Group: "NC2", Name: "coherence of the class means",
		Formula: "max over i<j of |cos(μ_i − h_G, μ_j − h_G)|", Sample: meanSample, Class: meanClass, Source: "Strohmer & Heath 2003; Welch 1974", Pitfall: "1/(K−1) for a simplex, and never less; at least √((K−d)/(d(K−1))) where d < K−1. Always 1 for K = 2."},
	{Key: KeyNC2RankD, Group: "NC2", Name: "classifier against the best rank-d ETF",
		Formula: "min over projections Q, Q1 = 0, rank Q = d of ‖U(WWᵀ) − Q/√d‖", Sample: noWeighting, Class: noWeighting, Source: "ours (ZHOU Thm 3.1, d < K−1)",
		Pitfall: "defined only for d < K−1."},
	{Key: KeyGNC2Distance, Group: "NC2", Name: "variance of pair distances",
		Formula: "variance over i<j of ‖m̂_i − m̂_j‖, m̂_k = (μ_k − h_G)/‖μ_k − h_G‖", Sample: meanSample, Class: meanClass, Source: "Liu et al. 2023 (generalised NC2); reference library", Pitfall: "divisor K(K−1)/2."},
	{Key: KeyGNC2Log, Group: "NC2", Name: "variance of logarithmic pair distances",
		Formula: "variance over i<j of log(1/‖m̂_i − m̂_j‖)", Sample: meanSample, Class: meanClass, Source: "Liu et al. 2023 (generalised NC2); reference library", Pitfall: "two means in one direction make it undefined."},
	{Key: KeyGNC2Riesz, Group: "NC2", Name: "relative variance of the Riesz kernel",
		Formula: "variance over i<j of κ_ij = ‖m̂_i − m̂_j‖^−(d−2), divided by (mean κ)²", Sample: meanSample, Class: meanClass, Source: "Liu et al. 2023 (generalised NC2); reference library, divided by the squared mean",
		Pitfall: "the raw kernel leaves the range of numbers for large d; divided by its mean it cannot. Defined for d > 2."},

	{Key: KeyNC3Gram, Group: "NC3", Name: "self-duality, Gram form",
		Formula: "‖U(W H_c) − E‖", Sample: meanSample, Class: meanClass, Source: "ZHU (8), ZHOU (8)", Pitfall: "sensitive to the sign; W is not centred."},
	{Key: KeyNC3Direct, Group: "NC3", Name: "self-duality, direct form",
		Formula: "‖U(W) − U(H̄ᵀ)‖, uncentred means", Sample: unweighted, Class: unweighted, Source: "TB (28)", Pitfall: "uncentred."},
	{Key: KeyNC3Centred, Group: "NC3", Name: "self-duality, centred",
		Formula: "‖U(W) − U(H_cᵀ)‖", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020 (NC3)", Pitfall: "the text's norm; Fig. 5 of the paper draws its square. W is not centred."},
	{Key: KeyNC3RankD, Group: "NC3", Name: "self-duality against the best rank-d ETF",
		Formula: "min over projections Q, Q1 = 0, rank Q = d of ‖U(W H_c) − Q/√d‖", Sample: meanSample, Class: meanClass, Source: "ours", Pitfall: "defined only for d < K−1.", Expensive: true},
	{Key: KeyNC3Duality, Group: "NC3", Name: "uniform duality",
		Formula: "variance over classes of cos(w_k, μ_k − h_G)", Sample: meanSample, Class: meanClass, Source: "reference library, with cosines instead of raw products", Pitfall: "divisor K."},
	{Key: KeyWMeanAlignment, Group: "NC3", Name: "alignment of the classifier's row space with the class means",
		Formula: "mean of the cosines of the K−1 principal angles between span{w_k − w_G} and span{μ_k − h_G}", Sample: meanSample, Class: meanClass, Source: "Rangamani et al. 2023 (intermediate neural collapse)",
		Pitfall: "1 means one subspace, not that w_k points to μ_k. Defined for d > K−1, both of rank K−1.", Expensive: true},

	{Key: KeyNC4Bias, Group: "NC4", Name: "bias residual",
		Formula: "‖b + W h_G‖", Sample: meanSample, Class: meanClass, Source: "ZHU (9)", Pitfall: "scale dependent; its limit is not 0 for MSE nor for CE without bias decay."},
	{Key: KeyNC4NCCMismatch, Group: "NC4", Name: "classifier against nearest class centre",
		Formula: "share with argmax_k (w_k·h + b_k) ≠ argmin_k ‖h − μ_k‖", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "the bias counts here; ties go to the lower class."},
	{Key: KeyTestNCCMismatch, Group: "NC4", Name: "classifier against nearest training centre, test samples",
		Formula: "share of test samples with argmax_k (w_k·h + b_k) ≠ argmin_k ‖h − μ_k‖, μ_k of the training samples", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020, Fig. 7", Pitfall: "centres of the training samples, unlike dilation."},

	{Key: KeyNC5OOD, Group: "NC5", Name: "out-of-distribution orthogonality",
		Formula: "mean over k of |cos(μ_k, μ_OOD)|", Sample: unweighted, Class: unweighted, Source: "Ammar et al. 2024", Pitfall: "not centred."},

	{Key: KeyOODMaxSoftmax, Group: "OOD", Name: "AUROC of the largest softmax probability",
		Formula: "AUROC of max_k softmax(Wh + b)_k", Sample: oodSets, Class: oodSets, Source: "Hendrycks & Gimpel 2017", Pitfall: "compared through its log-odds, which do not round to 1."},
	{Key: KeyOODMaxLogit, Group: "OOD", Name: "AUROC of the largest logit",
		Formula: "AUROC of max_k (w_k·h + b_k)", Sample: oodSets, Class: oodSets, Source: "Hendrycks et al. 2022", Pitfall: "moves with the scale of features."},
	{Key: KeyOODEnergy, Group: "OOD", Name: "AUROC of the energy",
		Formula: "AUROC of log Σ_k exp(w_k·h + b_k)", Sample: oodSets, Class: oodSets, Source: "Liu et al. 2020 (energy)", Pitfall: "temperature 1."},
	{Key: KeyOODNECO, Group: "OOD", Name: "AUROC of NECO",
		Formula: "AUROC of ‖P(h − h_G)‖/‖h − h_G‖, P on the K−1 leading eigenvectors of Σ_T = Σ_W + Σ_B of the training samples", Sample: oodSets + "; " + nc1Sample, Class: oodSets + "; " + nc1Class,
		Source: "Ammar et al. 2024", Pitfall: "K−1 components, as a simplex has; the released code tunes their number, may scale coordinates to unit variance, and may multiply by the largest logit.", Expensive: true},
	{Key: KeyOODMahalanobis, Group: "OOD", Name: "AUROC of the Mahalanobis distance",
		Formula: "AUROC of −min_k (h − μ_k)ᵀ Σ_W⁻¹ (h − μ_k), training means and Σ_W", Sample: oodSets + "; " + nc1Sample, Class: oodSets + "; " + nc1Class,
		Source: "Lee et al. 2018", Pitfall: "last layer only, without input noise; defined where Σ_W can be inverted, so N ≥ d + K.", Expensive: true},

	{Key: KeyNumericalRank, Group: "rank", Name: "numerical rank",
		Formula: "mean over k of (‖H_k‖_* / ‖H_k‖_F)², H_k the uncentred features of class k", Sample: "classes count the same", Class: "classes count the same",
		Source: "ZHOU (the released code forgets the square)", Pitfall: "in [1, min(d, n_k)].", Expensive: true},
	{Key: KeyFeatureRank, Group: "rank", Name: "rank of the layer",
		Formula: "eigenvalues of Σ_T = Σ_W + Σ_B above 10⁻³ of the largest", Sample: nc1Sample, Class: nc1Class,
		Source: "Masarczyk et al. 2023 (tunnel effect)", Pitfall: "about K−1 behind the entrance of a tunnel: measure several layers. The limit 10⁻³ is the paper's.", Expensive: true},
	{Key: KeyFeatureStableRank, Group: "rank", Name: "stable rank of the layer",
		Formula: "tr Σ_T / λ_max(Σ_T), Σ_T = Σ_W + Σ_B", Sample: nc1Sample, Class: nc1Class,
		Source: "Rudelson & Vershynin 2007", Pitfall: "in [1, d], K−1 for a simplex; without a limit, unlike feature_rank.", Expensive: true},

	{Key: KeyMarginMean, Group: "margin", Name: "cosine margin, mean",
		Formula: "mean of cos_y − max over j≠y of cos_j, cos_j = cos(h − h_G, w_j − w_G)", Sample: "mean over samples; h_G is the mean of all samples", Class: "mean over classes of class means; h_G is the mean of the class means", Source: "ZHOU", Pitfall: "the released code divides the uncentred logit by centred norms."},
	{Key: KeyMarginMin, Group: "margin", Name: "cosine margin, smallest",
		Formula: "smallest cosine margin of a sample", Sample: meanSample, Class: meanClass, Source: "ZHOU", Pitfall: "as cosine_margin_mean."},
	{Key: KeyMarginMax, Group: "margin", Name: "cosine margin, largest",
		Formula: "largest cosine margin of a sample", Sample: meanSample, Class: meanClass, Source: "ZHOU", Pitfall: "as cosine_margin_mean."},

	{Key: KeyAccuracy, Group: "accuracy", Name: "accuracy on the observed labels",
		Formula: "share with argmax_k (w_k·h + b_k) = y", Sample: rateSample, Class: rateClass, Source: "all", Pitfall: "ties go to the lower class."},
	{Key: KeyNCCAccuracy, Group: "accuracy", Name: "accuracy of the nearest class centre",
		Formula: "share with argmin_k ‖h − μ_k‖ = y", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "centres of the same samples."},
	{Key: KeyTestAccuracy, Group: "accuracy", Name: "test accuracy",
		Formula: "share of test samples with argmax_k (w_k·h + b_k) = y", Sample: rateSample, Class: rateClass, Source: "all", Pitfall: "argmax runs over all K classes: a latent class counts as an error."},
	{Key: KeyTestNCCAccuracy, Group: "accuracy", Name: "test accuracy of the nearest training centre",
		Formula: "share of test samples with argmin_k ‖h − μ_k‖ = y, μ_k of the training samples", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020; Galanti, György & Hutter 2022", Pitfall: "argmin runs over all K training classes; ties go to the lower class."},

	{Key: KeyMemRedrawn, Group: "memorization", Name: "displacement of redrawn samples",
		Formula: "Σ over redrawn train samples of ‖h − h*‖, h* the mean of the test features of the sample's true class", Sample: "a sum over samples", Class: "a sum over samples", Source: "M-D (3)", Pitfall: "a sum: grows with the data; a redrawn label may equal the true one."},
	{Key: KeyMemFlipped, Group: "memorization", Name: "memorization",
		Formula: "Σ over train samples with observed ≠ true label of ‖h − h*‖", Sample: "a sum over samples", Class: "a sum over samples", Source: "M-D (3), corrupted read as flipped", Pitfall: "a sum: grows with the data."},
	{Key: KeyMemMean, Group: "memorization", Name: "memorization per sample",
		Formula: "memorization_flipped / number of flipped samples", Sample: "mean over flipped samples", Class: "mean over flipped samples", Source: "ours", Pitfall: "undefined without a flipped sample."},
	{Key: KeyMemNormalised, Group: "memorization", Name: "memorization per sample and distance",
		Formula: "memorization_mean / mean over i<j of ‖h_i* − h_j*‖ (K = 2: ‖h_1* − h_2*‖)", Sample: "mean over flipped samples", Class: "mean over flipped samples", Source: "ours", Pitfall: "free of the feature scale, unlike the raw sum."},

	{Key: KeyMeanNormRatio, Group: "configuration", Name: "ratio of class mean norms",
		Formula: "min_k ‖μ_k‖ / max_k ‖μ_k‖", Sample: unweighted, Class: unweighted, Source: "ours (M-D Fig. 4a)", Pitfall: "below 0.1 a run is called degenerate; ask it on clean samples."},
	{Key: KeyMinClassCount, Group: "configuration", Name: "samples of the rarest class",
		Formula: "min_k n_k", Sample: noWeighting, Class: noWeighting, Source: "ours", Pitfall: "below d/K or so, means and spread of the rarest class are noise."},
	{Key: KeyConfSmallestEntry, Group: "configuration", Name: "smallest entry of the class means",
		Formula: "min over k, c of μ_kc", Sample: unweighted, Class: unweighted, Source: "M-D Def. 3.1", Pitfall: "negative: the features are not those of a ReLU."},
	{Key: KeyConfMaxCos, Group: "configuration", Name: "largest cosine between class means",
		Formula: "max over i<j of |cos(μ_i, μ_j)|, uncentred", Sample: unweighted, Class: unweighted, Source: "M-D Def. 3.1", Pitfall: "0 in an NC configuration with non-negative features."},
	{Key: KeyConfOverlap, Group: "configuration", Name: "support overlap",
		Formula: "max over i<j of Σ_c min(|μ_ic|, |μ_jc|) / min(‖μ_i‖₁, ‖μ_j‖₁)", Sample: unweighted, Class: unweighted, Source: "ours (M-D Def. 3.1)", Pitfall: "0: disjoint supports; 1: one lies inside the other.", Expensive: true},
	{Key: KeyConfWeightAngle, Group: "configuration", Name: "largest angle of w_k to its class",
		Formula: "max over k of the angle between w_k and μ_k − h_G, in radians", Sample: meanSample, Class: meanClass, Source: "M-D Def. 3.1", Pitfall: "0 in an NC configuration."},
}

// Definitions returns the registry in table order. The slice is a copy.
func Definitions() []Definition { return append([]Definition(nil), definitions...) }

// Lookup returns the definition of a key.
func Lookup(key string) (Definition, bool) {
	for i := range definitions {
		if definitions[i].Key == key {
			return definitions[i], true
		}
	}
	return Definition{}, false
}
