package nn

import "collapse.example/collapse/internal/kernel"

// Argmax returns the index of the largest entry of row; ties go to the lowest index, and a NaN
// is never chosen over a number. It panics on an empty row.
func Argmax[T kernel.Float](row []T) int {
	best := 0
	for j, v := range row {
		if v > row[best] || (row[best] != row[best] && v == v) {
			best = j
		}
	}
	return best
}

// Correct returns how many rows of logits (N×classes) have their largest entry at the label.
// It panics if shapes disagree.
func Correct[T kernel.Float](logits []T, labels []int32, classes int) int {
	if len(logits) != len(labels)*classes {
		panic("nn: Correct: logits are not N×classes")
	}
	correct := 0
	for i, y := range labels {
		if Argmax(logits[i*classes:(i+1)*classes]) == int(y) {
			correct++
		}
	}
	return correct
}
