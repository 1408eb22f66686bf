// Package featurefiles finds features, labels and a classifier in files of any framework and hands them
// to package measure.
//
// It knows names and files, not numbers: which array of a file is what (roles.go, find.go), how shards
// pair and whether shapes agree (set.go, check.go), which label value is which class (labels.go) and
// which is ignored (ignore.go), whether several files can be shards of one set (onemodel.go), how rows
// reach the engine without being held in memory (matrix.go), and where in which file a bad number lies
// (explain.go). stream.go reads npy records from a pipe, in one pass.
//
// Open set.go first: Request says what a user named, Open looks it up and checks it, Set.Measure
// measures it. Every error names the file, what was found, what was wanted and what to try.
package featurefiles
