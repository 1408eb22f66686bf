// Package measure computes every neural-collapse measure of given last-layer features: class
// statistics in float64 by two passes, then NC1 to NC5, accuracy, memorization and dilation.
//
// An Engine keeps its scratch memory between calls, so that a training run can measure each epoch
// without garbage; Measure is the same for one call. What is undefined (0/0, one class,
// means that coincide) is listed in Report.Missing with its reason: never 0, never NaN.
//
// Nothing here knows networks: features, labels, a classifier and masks go in, a Report comes out.
//
// Features of files come as a Source (source.go: mapped arrays, shards); a stream or a shard leaves Moments
// (moments.go), which merge, and a SecondPass beside merged Moments (shardpass.go); both are kept in .ncs files (state.go).
//
// Open registry.go first: the table of definitions. Then input.go for what goes in, engine.go for the
// order of the passes, present.go for the classes that are measured, firstpass.go and secondpass.go for the loops, widerun.go for the
// second pass where K·d is large (internal/wide), between.go and precision.go for NC1 and what it cuts, pairs.go and geometry.go
// for NC2 and NC3, uncertainty.go for what rounding leaves open, null.go for what shuffled labels give, directions.go for NC1 direction by direction.
//
// Notation, as in the papers: K classes, N samples, n_k of them in class k, width d; h_i (d) is a
// feature row, μ_k a class mean, h_G the global mean, W (K×d) and b (K) the classifier.
package measure
