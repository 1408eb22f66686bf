package measure

// Keys of NC1.
const (
	KeyNC1Pinv       = "nc1_pinv"
	KeyNC1TraceRatio = "nc1_trace_ratio"
	KeyCDNV          = "cdnv"
	KeyCDNVStd       = "cdnv_std"
	KeyCDNVMax       = "cdnv_max"
	KeyVCI           = "vci"
	KeyTraceWithin   = "trace_within"
	KeyTraceBetween  = "trace_between"
	KeyRankBetween   = "rank_between"
	KeyRankCut       = "rank_between_cut"
	KeyParticipation = "participation_between"
	KeyDilation      = "dilation"
	KeyTestNC1Ratio  = "test_nc1_trace_ratio"
)

// nc1Rows are the rows of NC1, in the order of tables.
var nc1Rows = []Definition{
	{Key: KeyNC1Pinv, Group: "NC1", Name: "within-class variability collapse",
		Formula: "(1/K) tr(Σ_W Σ_B⁺), computed as (1/N) Σ_i ‖(M̃M̃ᵀ)⁻¹M̃(h_i − μ_k)‖² with M̃ the centred means in an orthonormal basis",
		Sample:  nc1Sample, Class: nc1Class, Source: "Papyan, Han & Donoho 2020; ZHU, ZHOU, TB, M-D (2)",
		Pitfall: "small true eigenvalues of Σ_B make it huge: read rank_between and uncertainty beside it. A float32 pseudo-inverse can be wrong by a factor of a million.",
		needs:   needSeveral | needSpread | needApart | needOperator, Chance: SmallByChance, rounding: ofValue(1)},
	{Key: KeyNC1TraceRatio, Group: "NC1", Name: "trace ratio",
		Formula: "tr Σ_W / tr Σ_B", Sample: nc1Sample, Class: nc1Class, Source: "Hui, Belkin & Nakkiran 2022; reference library",
		Pitfall: "no 1/K: another scale than nc1_pinv.",
		needs:   needSeveral | needSpread | needApart, Chance: SmallByChance, rounding: ofValue(2)},
	{Key: KeyCDNV, Group: "NC1", Name: "class-distance normalised variance",
		Formula: "mean over i<j of (v_i + v_j) / (2 ‖μ_i − μ_j‖²), v_k = (1/n_k) Σ ‖h − μ_k‖²", Sample: unweighted, Class: unweighted,
		Source: "Galanti, György & Hutter 2022", Pitfall: "biased variances (divisor n_k); two classes with one mean make it undefined.",
		needs: needSeveral | needSpread | needApart, Chance: SmallByChance, rounding: ofValue(1), pairs: pairAverage},
	{Key: KeyCDNVStd, Group: "NC1", Name: "spread of the class-distance normalised variance",
		Formula: "standard deviation over i<j of (v_i + v_j) / (2 ‖μ_i − μ_j‖²)", Sample: unweighted, Class: unweighted,
		Source: "Galanti, György & Hutter 2022 (the pairs); ours", Pitfall: "divisor K(K−1)/2; the report's histogram shows the pairs.",
		needs: needSeveral | needSpread | needApart, Chance: NotShuffled, rounding: ofValue(1), pairs: pairAverage},
	{Key: KeyCDNVMax, Group: "NC1", Name: "largest class-distance normalised variance of a pair",
		Formula: "max over i<j of (v_i + v_j) / (2 ‖μ_i − μ_j‖²)", Sample: unweighted, Class: unweighted,
		Source: "Galanti, György & Hutter 2022 (the pairs); ours", Pitfall: "the worst pair: grows with the number of classes.",
		needs: needSeveral | needSpread | needApart, Chance: NotShuffled, rounding: ofValue(1), pairs: pairExtreme},
	{Key: KeyVCI, Group: "NC1", Name: "variability collapse index",
		Formula: "1 − tr(Σ_T⁺ Σ_B)/rank Σ_B, Σ_T = Σ_W + Σ_B", Sample: nc1Sample, Class: nc1Class, Source: "Xu & Liu 2023",
		Pitfall: "in [0,1], the same for any invertible map of the features; defined for N ≥ d + K: below, it is 0 for almost any features, collapsed or not.", Expensive: true,
		needs: needSeveral | needSpread | needApart | needOperator | needCovariance, Chance: NotShuffled, rounding: sizeOne(1), Costly: true},
	{Key: KeyTraceWithin, Group: "NC1", Name: "within-class variance",
		Formula: "tr Σ_W", Sample: nc1Sample, Class: nc1Class, Source: "M-D", Pitfall: "in squared feature units: not comparable between losses.",
		needs: needSpread, Chance: Shuffled, rounding: ofValue(2), power: 2},
	{Key: KeyTraceBetween, Group: "NC1", Name: "between-class variance",
		Formula: "tr Σ_B = (1/K) Σ_k ‖μ_k − h_G‖²", Sample: meanSample, Class: meanClass, Source: "M-D", Pitfall: "in squared feature units.",
		needs: needSeveral, Chance: Shuffled, rounding: ofValue(1), power: 2, compute: meanSquare},
	{Key: KeyRankBetween, Group: "NC1", Name: "rank of Σ_B",
		Formula: "eigenvalues of Σ_B above the rounding of the class means in their direction, and above rcond·g_max if rcond was chosen", Sample: meanSample, Class: meanClass,
		Source: "ours", Pitfall: "at most min(d, K−1); below that nc1_pinv sees only the kept directions, and the headline gives no verdict.",
		needs: needSeveral | needApart | needOperator, Chance: Shuffled, rounding: ofValue(1)},
	{Key: KeyRankCut, Group: "NC1", Name: "eigenvalues of Σ_B cut",
		Formula: "min(d, K−1) − rank_between", Sample: meanSample, Class: meanClass,
		Source: "ours", Pitfall: "counts directions that are not there (dependent means), are hidden by rounding, or lie below a chosen rcond; nc1_pinv leaves them out.",
		needs: needSeveral | needApart | needOperator, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyParticipation, Group: "NC1", Name: "directions of the class means",
		Formula: "(tr Σ_B)²/‖Σ_B‖², the participation ratio of its eigenvalues", Sample: meanSample, Class: meanClass,
		Source: "ours, for the low ranks of Súkeník et al. 2024", Pitfall: "in [1, K−1], K−1 for a simplex; r for r equal directions, and not a rank: small directions hardly count.",
		needs: needSeveral | needApart, Chance: NotShuffled, rounding: ofValue(1), OfTwo: oppositeMeans},
	{Key: KeyDilation, Group: "NC1", Name: "dilation",
		Formula: "√nc1_pinv of the test features around their own class means", Sample: nc1Sample, Class: nc1Class, Source: "M-D, y axis of Fig. 1",
		Pitfall: "M-D's word means nc1_pinv of the test features, whose root they draw; the released code computes neither.",
		needs:   needTest | needOperator, Chance: NotShuffled, rounding: ofValue(1)},
	{Key: KeyTestNC1Ratio, Group: "NC1", Name: "trace ratio on test features",
		Formula: "tr Σ_W / tr Σ_B of the test features", Sample: nc1Sample, Class: nc1Class, Source: "ours", Pitfall: "as nc1_trace_ratio.",
		needs: needTest, Chance: NotShuffled, rounding: ofValue(2)},
}
