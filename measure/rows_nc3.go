package measure

// Keys of NC3.
const (
	KeyNC3Gram        = "nc3_gram"
	KeyNC3Direct      = "nc3_direct"
	KeyNC3Centred     = "nc3_centred"
	KeyNC3RankD       = "nc3_rank_d"
	KeyNC3Duality     = "nc3_uniform_duality"
	KeyWMeanAlignment = "w_mean_alignment"
)

// nc3Rows are the rows of NC3, in the order of tables.
var nc3Rows = []Definition{
	{Key: KeyNC3Gram, Group: "NC3", Name: "self-duality, Gram form",
		Formula: "‖U(W H_c) − E‖", Sample: meanSample, Class: meanClass, Source: "ZHU (8), ZHOU (8)", Pitfall: "sensitive to the sign; W is not centred.",
		needs: needWeights | needSeveral | needNonzeroW | needApart, Chance: NotShuffled, rounding: sizeOne(1)},
	{Key: KeyNC3Direct, Group: "NC3", Name: "self-duality, direct form",
		Formula: "‖U(W) − U(H̄ᵀ)‖, uncentred means", Sample: unweighted, Class: unweighted, Source: "TB (28)", Pitfall: "uncentred.",
		needs: needWeights | needSeveral | needNonzeroW | needSized, Chance: NotShuffled, rounding: sizeOne(1)},
	{Key: KeyNC3Centred, Group: "NC3", Name: "self-duality, centred",
		Formula: "‖U(W) − U(H_cᵀ)‖", Sample: meanSample, Class: meanClass, Source: "Papyan, Han & Donoho 2020 (NC3)", Pitfall: "the text's norm; Fig. 5 of the paper draws its square. W is not centred.",
		needs: needWeights | needSeveral | needNonzeroW | needApart, Chance: NotShuffled, rounding: zeroable(1)},
	{Key: KeyNC3RankD, Group: "NC3", Name: "self-duality against the best rank-d ETF",
		Formula: "min over projections Q, Q1 = 0, rank Q = d of ‖U(W H_c) − Q/√d‖", Sample: meanSample, Class: meanClass, Source: "ours", Pitfall: "defined only for d < K−1.", Expensive: true,
		needs: needWeights | needSeveral | needNonzeroW | needApart, Chance: NotShuffled, rounding: ofForm(root)},
	{Key: KeyNC3Duality, Group: "NC3", Name: "uniform duality",
		Formula: "variance over classes of cos(w_k, μ_k − h_G)", Sample: meanSample, Class: meanClass, Source: "reference library, with cosines instead of raw products", Pitfall: "divisor K.",
		needs: needWeights | needSeveral | needNonzeroW | needApart, Chance: NotShuffled, rounding: zeroable(3)},
	{Key: KeyWMeanAlignment, Group: "NC3", Name: "alignment of the classifier's row space with the class means",
		Formula: "mean of the cosines of the K−1 principal angles between span{w_k − w_G} and span{μ_k − h_G}", Sample: meanSample, Class: meanClass, Source: "Rangamani et al. 2023 (intermediate neural collapse)",
		Pitfall: "1 means one subspace, not that w_k points to μ_k. Defined for d > K−1, both of rank K−1.", Expensive: true,
		needs: needWeights | needSeveral | needNonzeroW | needApart, Chance: NotShuffled, rounding: sizeOne(1), Costly: true},
}
