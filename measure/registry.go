package measure

import "slices"

// Definition is one line of the registry: all that the package knows of a measure, but for what several share.
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
	Costly        bool // takes as long as all others together: too long for every epoch of a training
	// Chance says whether the measure has a value for shuffled labels.
	Chance Chance
	// OfTwo says why the value of two classes is the same whatever the model; "" if it is not.
	OfTwo string

	needs    needs
	rounding unseen
	pairs    pairUse
	power    int // of the features' unit, while W has its inverse
	// compute finds the value, or why there is none, of a measure of class means and classifier where all that it needs is there; nil for one that
	// comes from a pass over samples or with others.
	compute func(s *shape) (v float64, undefined string)
}

// Chance says how a measure compares with its value for shuffled labels (Report.Null).
type Chance int

// What Definition.Chance may be; a row of the registry states one of the others than the zero value.
const (
	ChanceUnstated Chance = iota
	NotShuffled           // has no value for shuffled labels
	Shuffled              // has one
	SmallByChance         // has one, and is small if classes have collapsed to a simplex, and by chance if samples are few
)

// pairUse says what a measure takes from the pairs of classes.
type pairUse int

const (
	noPairs      pairUse = iota
	pairAverage          // an average, which a sample of the pairs can estimate
	pairExtreme          // a largest value, or one that the nearest pairs decide: a sample cannot give it
	pairDecision         // distances that prune decisions for the nearest centre
)

// Why measures have a fixed value for two classes whatever the model.
const (
	oppositeMeans = "two centred class means are opposite whatever the model"
	oppositeRows  = "two rows of the classifier are opposite around their mean whatever the model"
	ofSizes       = "with two classes it follows from their sizes, whatever the model"
)

// weighting returns the text for an Imbalance.
func (d *Definition) weighting(im Imbalance) string {
	if im == PerClass {
		return d.Class
	}
	return d.Sample
}

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
var definitions = slices.Concat(nc1Rows, nc2Rows, nc3Rows, nc4Rows, otherRows)

// keysOf returns the keys of the rows that are so.
func keysOf(so func(d *Definition) bool) (keys []string) {
	for i := range definitions {
		if d := &definitions[i]; so(d) {
			keys = append(keys, d.Key)
		}
	}
	return keys
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
