// Package measure computes every neural-collapse measure of given last-layer features: class
// statistics in float64 by two passes, then NC1 to NC5, accuracy, memorization and dilation.
//
// An Engine keeps its scratch memory between calls, so a training run can measure each epoch
// without garbage; Measure does the same for a single call. Undefined measures (0/0, one class,
// coinciding means) are listed in Report.Missing with a reason; they are never 0 or NaN.
//
// Nothing here knows networks: features, labels, a classifier and masks go in, a Report comes out.
//
// Features in files come as a Source (source.go: mapped arrays, shards). A stream or a shard yields Moments (moments.go),
// which merge, and a SecondPass against merged Moments (shardpass.go); .ncs files hold both (state.go).
//
// Open registry.go first: what a row says of a measure; rows_nc1.go and others hold the rows. Then input.go for what goes in, engine.go for the order of the passes, present.go for
// the classes that are measured, firstpass.go and secondpass.go for the loops, widerun.go for the second pass when K·d is large
// (internal/wide), between.go and precision.go for NC1 and its cut-off, pairs.go and geometry.go for NC2 and NC3, uncertainty.go for
// rounding errors, null.go for shuffled labels, directions.go for NC1 by direction.
//
// Notation, as in the papers: K classes, N samples, n_k of them in class k, width d; h_i (d) is a
// feature row, μ_k a class mean, h_G the global mean, W (K×d) and b (K) the classifier.
package measure
