package measure

// Keys of ranks, margins, accuracies, memorization and the configuration.
const (
	KeyNumericalRank     = "numerical_rank"
	KeyFeatureRank       = "feature_rank"
	KeyFeatureStableRank = "feature_stable_rank"
	KeyMarginMean        = "cosine_margin_mean"
	KeyMarginMin         = "cosine_margin_min"
	KeyMarginMax         = "cosine_margin_max"
	KeyAccuracy          = "accuracy"
	KeyNCCAccuracy       = "ncc_accuracy"
	KeyTestAccuracy      = "test_accuracy"
	KeyTestNCCAccuracy   = "test_ncc_accuracy"
	KeyMemRedrawn        = "memorization_redrawn"
	KeyMemFlipped        = "memorization_flipped"
	KeyMemMean           = "memorization_mean"
	KeyMemNormalised     = "memorization_normalised"
	KeyMeanNormRatio     = "mean_norm_ratio"
	KeyMinClassCount     = "min_class_count"
	KeyConfSmallestEntry = "config_smallest_entry"
	KeyConfMaxCos        = "config_max_abs_cos"
	KeyConfOverlap       = "config_support_overlap"
	KeyConfWeightAngle   = "config_weight_angle"
)

// otherRows are the rows of ranks, margins, accuracies, memorization and the configuration, in the order of tables.
var otherRows = []Definition{
	{Key: KeyNumericalRank, Group: "rank", Name: "numerical rank",
		Formula: "mean over k of (‖H_k‖_* / ‖H_k‖_F)², H_k the uncentred features of class k", Sample: "classes count the same", Class: "classes count the same",
		Source: "ZHOU (the released code forgets the square)", Pitfall: "in [1, min(d, n_k)].", Expensive: true,
		needs: needTogether, Chance: NotShuffled, rounding: ofValue(20)},
	{Key: KeyFeatureRank, Group: "rank", Name: "rank of the layer",
		Formula: "eigenvalues of Σ_T = Σ_W + Σ_B above 10⁻³ of the largest", Sample: nc1Sample, Class: nc1Class,
		Source: "Masarczyk et al. 2023 (tunnel effect)", Pitfall: "about K−1 behind the entrance of a tunnel: measure several layers. The limit 10⁻³ is the paper's.", Expensive: true,
		needs: needCovariance, Chance: NotShuffled, rounding: ofValue(1), Costly: true},
	{Key: KeyFeatureStableRank, Group: "rank", Name: "stable rank of the layer",
		Formula: "tr Σ_T / λ_max(Σ_T), Σ_T = Σ_W + Σ_B", Sample: nc1Sample, Class: nc1Class,
		Source: "Rudelson & Vershynin 2007", Pitfall: "in [1, d], K−1 for a simplex; without a limit, unlike feature_rank.", Expensive: true,
		needs: needCovariance, Chance: NotShuffled, rounding: ofValue(1), Costly: true},
	{Key: KeyMarginMean, Group: "margin", Name: "cosine margin, mean",
		Formula: "mean of cos_y − max over j≠y of cos_j, cos_j = cos(h − h_G, w_j − w_G)", Sample: "mean over samples; h_G is the mean of all samples", Class: "mean over classes of class means; h_G is the mean of the class means", Source: "ZHOU", Pitfall: "the released code divides the uncentred logit by centred norms.",
		needs: needWeights | needSeveral | needSamples | needChoices, Chance: NotShuffled, rounding: sizeOne(.5)},
	{Key: KeyMarginMin, Group: "margin", Name: "cosine margin, smallest",
		Formula: "smallest cosine margin of a sample", Sample: meanSample, Class: meanClass, Source: "ZHOU", Pitfall: "as cosine_margin_mean.",
		needs: needWeights | needSeveral | needSamples | needChoices, Chance: NotShuffled, rounding: sizeOne(1)},
	{Key: KeyMarginMax, Group: "margin", Name: "cosine margin, largest",
		Formula: "largest cosine margin of a sample", Sample: meanSample, Class: meanClass, Source: "ZHOU", Pitfall: "as cosine_margin_mean.",
		needs: needWeights | needSeveral | needSamples | needChoices, Chance: NotShuffled, rounding: sizeOne(1)},
	{Key: KeyAccuracy, Group: "accuracy", Name: "accuracy on the observed labels",
		Formula: "share with argmax_k (w_k·h + b_k) = y", Sample: rateSample, Class: rateClass, Source: "all", Pitfall: "ties go to the lower class.",
		needs: needWeights | needSamples | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyNCCAccuracy, Group: "accuracy", Name: "accuracy of the nearest class centre",
		Formula: "share with argmin_k ‖h − μ_k‖ = y", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "centres of the same samples.",
		needs: needSeveral | needSamples | needChoices, Chance: Shuffled, rounding: ofValue(1), pairs: pairDecision},
	{Key: KeyTestAccuracy, Group: "accuracy", Name: "test accuracy",
		Formula: "share of test samples with argmax_k (w_k·h + b_k) = y", Sample: rateSample, Class: rateClass, Source: "all", Pitfall: "argmax runs over all K classes: a latent class counts as an error.",
		needs: needTest | needWeights | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyTestNCCAccuracy, Group: "accuracy", Name: "test accuracy of the nearest training centre",
		Formula: "share of test samples with argmin_k ‖h − μ_k‖ = y, μ_k of the training samples", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020; Galanti, György & Hutter 2022", Pitfall: "argmin runs over all K training classes; ties go to the lower class.",
		needs: needTest | needSeveral | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyMemRedrawn, Group: "memorization", Name: "displacement of redrawn samples",
		Formula: "Σ over redrawn train samples of ‖h − h*‖, h* the mean of the test features of the sample's true class", Sample: "a sum over samples", Class: "a sum over samples", Source: "M-D (3)", Pitfall: "a sum: grows with the data; a redrawn label may equal the true one.",
		needs: needTest | needTruth, Chance: NotShuffled, rounding: ofValue(3), power: 1},
	{Key: KeyMemFlipped, Group: "memorization", Name: "memorization",
		Formula: "Σ over train samples with observed ≠ true label of ‖h − h*‖", Sample: "a sum over samples", Class: "a sum over samples", Source: "M-D (3), corrupted read as flipped", Pitfall: "a sum: grows with the data.",
		needs: needTest | needTruth, Chance: NotShuffled, rounding: ofValue(3), power: 1},
	{Key: KeyMemMean, Group: "memorization", Name: "memorization per sample",
		Formula: "memorization_flipped / number of flipped samples", Sample: "mean over flipped samples", Class: "mean over flipped samples", Source: "ours", Pitfall: "undefined without a flipped sample.",
		needs: needTest | needTruth, Chance: NotShuffled, rounding: ofValue(3), power: 1},
	{Key: KeyMemNormalised, Group: "memorization", Name: "memorization per sample and distance",
		Formula: "memorization_mean / mean over i<j of ‖h_i* − h_j*‖ (K = 2: ‖h_1* − h_2*‖)", Sample: "mean over flipped samples", Class: "mean over flipped samples", Source: "ours", Pitfall: "free of the feature scale, unlike the raw sum.",
		needs: needTest | needTruth, Chance: NotShuffled, rounding: ofValue(3)},
	{Key: KeyMeanNormRatio, Group: "configuration", Name: "ratio of class mean norms",
		Formula: "min_k ‖μ_k‖ / max_k ‖μ_k‖", Sample: unweighted, Class: unweighted, Source: "ours (M-D Fig. 4a)", Pitfall: "below 0.1 a run is called degenerate; ask it on clean samples.",
		needs: needSeveral | needSized, Chance: Shuffled, rounding: ofValue(1), compute: normRatio},
	{Key: KeyMinClassCount, Group: "configuration", Name: "samples of the rarest class",
		Formula: "min_k n_k", Sample: noWeighting, Class: noWeighting, Source: "ours", Pitfall: "below d/K or so, means and spread of the rarest class are noise.",
		needs: needNothing, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyConfSmallestEntry, Group: "configuration", Name: "smallest entry of the class means",
		Formula: "min over k, c of μ_kc", Sample: unweighted, Class: unweighted, Source: "M-D Def. 3.1", Pitfall: "negative: the features are not those of a ReLU.",
		needs: needSeveral, Chance: NotShuffled, rounding: ofValue(1), power: 1, compute: smallestEntry},
	{Key: KeyConfMaxCos, Group: "configuration", Name: "largest cosine between class means",
		Formula: "max over i<j of |cos(μ_i, μ_j)|, uncentred", Sample: unweighted, Class: unweighted, Source: "M-D Def. 3.1", Pitfall: "0 in an NC configuration with non-negative features.",
		needs: needSeveral | needSized, Chance: SmallByChance, rounding: ofForm(oneCosine), pairs: pairExtreme},
	{Key: KeyConfOverlap, Group: "configuration", Name: "support overlap",
		Formula: "max over i<j of Σ_c min(|μ_ic|, |μ_jc|) / min(‖μ_i‖₁, ‖μ_j‖₁)", Sample: unweighted, Class: unweighted, Source: "ours (M-D Def. 3.1)", Pitfall: "0: disjoint supports; 1: one lies inside the other.", Expensive: true,
		needs: needSeveral, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyConfWeightAngle, Group: "configuration", Name: "largest angle of w_k to its class",
		Formula: "max over k of the angle between w_k and μ_k − h_G, in radians", Sample: meanSample, Class: meanClass, Source: "M-D Def. 3.1", Pitfall: "0 in an NC configuration.",
		needs: needWeights | needSeveral | needNonzeroW | needApart, Chance: NotShuffled, rounding: zeroable(1)},
}
