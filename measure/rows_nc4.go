package measure

// Keys of NC4 and NC5, and of out-of-distribution scores.
const (
	KeyNC4Bias         = "nc4_bias"
	KeyNC4NCCMismatch  = "nc4_ncc_mismatch"
	KeyTestNCCMismatch = "test_nc4_ncc_mismatch"
	KeyNC5OOD          = "nc5_ood"
	KeyOODMaxSoftmax   = "ood_auroc_msp"
	KeyOODMaxLogit     = "ood_auroc_max_logit"
	KeyOODEnergy       = "ood_auroc_energy"
	KeyOODNECO         = "ood_auroc_neco"
	KeyOODMahalanobis  = "ood_auroc_mahalanobis"
)

// nc4Rows are the rows of NC4 and NC5, and of out-of-distribution scores, in the order of tables.
var nc4Rows = []Definition{
	{Key: KeyNC4Bias, Group: "NC4", Name: "bias residual",
		Formula: "‖b + W h_G‖", Sample: meanSample, Class: meanClass, Source: "ZHU (9)", Pitfall: "scale dependent; its limit is not 0 for MSE nor for CE without bias decay.",
		needs: needWeights, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyNC4NCCMismatch, Group: "NC4", Name: "classifier against nearest class centre",
		Formula: "share with argmax_k (w_k·h + b_k) ≠ argmin_k ‖h − μ_k‖", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020", Pitfall: "the bias counts here; ties go to the lower class.",
		needs: needWeights | needSeveral | needSamples | needChoices, Chance: NotShuffled, rounding: ofValue(1), pairs: pairDecision},
	{Key: KeyTestNCCMismatch, Group: "NC4", Name: "classifier against nearest training centre, test samples",
		Formula: "share of test samples with argmax_k (w_k·h + b_k) ≠ argmin_k ‖h − μ_k‖, μ_k of the training samples", Sample: rateSample, Class: rateClass, Source: "Papyan, Han & Donoho 2020, Fig. 7", Pitfall: "centres of the training samples, unlike dilation.",
		needs: needTest | needWeights | needSeveral | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyNC5OOD, Group: "NC5", Name: "out-of-distribution orthogonality",
		Formula: "mean over k of |cos(μ_k, μ_OOD)|", Sample: unweighted, Class: unweighted, Source: "Ammar et al. 2024", Pitfall: "not centred.",
		needs: needOOD, Chance: NotShuffled, rounding: sizeOne(.5)},
	{Key: KeyOODMaxSoftmax, Group: "OOD", Name: "AUROC of the largest softmax probability",
		Formula: "AUROC of max_k softmax(Wh + b)_k", Sample: oodSets, Class: oodSets, Source: "Hendrycks & Gimpel 2017", Pitfall: "compared through its log-odds, which do not round to 1.",
		needs: needOOD | needWeights | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyOODMaxLogit, Group: "OOD", Name: "AUROC of the largest logit",
		Formula: "AUROC of max_k (w_k·h + b_k)", Sample: oodSets, Class: oodSets, Source: "Hendrycks et al. 2022", Pitfall: "moves with the scale of features.",
		needs: needOOD | needWeights | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyOODEnergy, Group: "OOD", Name: "AUROC of the energy",
		Formula: "AUROC of log Σ_k exp(w_k·h + b_k)", Sample: oodSets, Class: oodSets, Source: "Liu et al. 2020 (energy)", Pitfall: "temperature 1.",
		needs: needOOD | needWeights | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyOODNECO, Group: "OOD", Name: "AUROC of NECO",
		Formula: "AUROC of ‖P(h − h_G)‖/‖h − h_G‖, P on the K−1 leading eigenvectors of Σ_T = Σ_W + Σ_B of the training samples", Sample: oodSets + "; " + nc1Sample, Class: oodSets + "; " + nc1Class,
		Source: "Ammar et al. 2024", Pitfall: "K−1 components, as a simplex has; the released code tunes their number, may scale coordinates to unit variance, and may multiply by the largest logit.", Expensive: true,
		needs: needOOD | needSeveral | needCovariance, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyOODMahalanobis, Group: "OOD", Name: "AUROC of the Mahalanobis distance",
		Formula: "AUROC of −min_k (h − μ_k)ᵀ Σ_W⁻¹ (h − μ_k), training means and Σ_W", Sample: oodSets + "; " + nc1Sample, Class: oodSets + "; " + nc1Class,
		Source: "Lee et al. 2018", Pitfall: "last layer only, without input noise; defined where Σ_W can be inverted, so N ≥ d + K.", Expensive: true,
		needs: needOOD | needCovariance | needChoices, Chance: NotShuffled, rounding: ofValue(1)},
}
