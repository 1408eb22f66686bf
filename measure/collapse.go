package measure

// Property is one of the four properties of neural collapse (Papyan, Han & Donoho 2020) with the measure that stands for it. Each is 0
// in full collapse.
type Property struct {
	Name  string // "NC1" to "NC4"
	Key   string
	Short string // what is measured, in a few words
}

// properties are the same wherever one measure of each stands: in terminals, tiles, pages and Python. They are the paper's own
// definitions; docs/measures.md has the reasons.
var properties = [...]Property{
	{"NC1", KeyNC1Pinv, "within-class variability"},
	{"NC2", KeyNC2MeansCentred, "class means to a simplex ETF"},
	{"NC3", KeyNC3Centred, "classifier to class means"},
	{"NC4", KeyNC4NCCMismatch, "not the nearest class centre"},
}

// Properties returns NC1 to NC4.
func Properties() []Property { return append([]Property(nil), properties[:]...) }
