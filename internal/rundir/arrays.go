package rundir

// Arrays of features.npz and of frames. Both hold the classifier, weight (K×d) and bias (K).
const (
	Weight = "weight"
	Bias   = "bias"
)

// Arrays of features.npz: the first n training and m test samples.
const (
	TrainFeatures = "train_h"        // n×d
	TrainObserved = "train_observed" // n: the labels trained on
	TrainTrue     = "train_true"     // n: before noise
	TrainRedrawn  = "train_redrawn"  // n: 1 where the label was drawn anew
	TestFeatures  = "test_h"         // m×d
	TestTrue      = "test_true"      // m
	TrainSamples  = "train_samples"  // how many samples the split has
	TestSamples   = "test_samples"
)

// Arrays of a frame: m training samples, and class means by observed label.
const (
	FrameFeatures = "h"        // m×d
	FrameObserved = "observed" // m
	FrameTrue     = "true"     // m
	FrameMeans    = "means"    // K×d; zeros where a class has no sample
	FrameCounts   = "counts"   // K
)
