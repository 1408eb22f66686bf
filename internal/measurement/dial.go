package measurement

import (
	"math"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
)

// Dial is a measure as a pointer between what shuffled labels give and complete collapse.
type Dial struct {
	Name     string  `json:"name"` // NC1 … NC4
	Key      string  `json:"key"`
	About    string  `json:"about"`
	Value    float64 `json:"value"`
	Shuffled float64 `json:"shuffled"` // the axis begins where labels say nothing …
	End      float64 `json:"end"`      // … and ends here
	Limit    float64 `json:"limit"`    // collapsed from here on
	Log      bool    `json:"log"`
}

// The ends of the dials that shuffled labels and the limits of the headline leave open; we chose them.
const (
	tightRatio   = 1e-4 // end of NC1: samples spread 1 % as far as class means do
	mismatchRate = 0.01 // of NC4
)

// Dials are the four dials of a report; a measure without a value has none, nor have class means that coincide. Of NC1 and NC2 shuffled labels were measured. Class means
// of shuffled labels are unrelated to the classifier, so that the distance of NC3 is that of orthogonal matrices, √2, and NC4 agrees
// once in K times.
func Dials(r *measure.Report) []Dial {
	perDirection := float64(r.Facts.Rank) / float64(r.K)
	shuffled := func(key string) float64 {
		if null, known := r.Null[key]; known {
			return null.Median
		}
		return 0 // which is beyond every limit: no dial
	}
	all := []Dial{
		{Name: "NC1", Key: measure.KeyNC1Pinv, About: "classes become points", Shuffled: shuffled(measure.KeyNC1Pinv),
			End: tightRatio * perDirection, Limit: CollapsedRatio * perDirection, Log: true},
		{Name: "NC2", Key: measure.KeyNC2MeansCentred, About: "class means form a simplex", Shuffled: shuffled(measure.KeyNC2MeansCentred), Limit: simplexDistance},
		{Name: "NC3", Key: measure.KeyNC3Centred, About: "the classifier mirrors it", Shuffled: math.Sqrt2, Limit: simplexDistance},
		{Name: "NC4", Key: measure.KeyNC4NCCMismatch, About: "the nearest mean decides", Shuffled: 1 - 1/float64(r.K), Limit: mismatchRate},
	}
	var out []Dial
	for _, d := range all {
		if v, ok := r.Value(d.Key); ok && !coincide(r) && d.Shuffled > d.Limit && d.Limit > d.End {
			d.Value = v
			out = append(out, d)
		}
	}
	return out
}

// Place is where v lies on the dial: 0 at shuffled labels and 1 at its end.
func (d Dial) Place(v float64) float64 {
	from, to := d.Shuffled, d.End
	if d.Log {
		v, from, to = math.Log(v), math.Log(from), math.Log(to)
	}
	return min(1, max(0, (from-v)/(from-to)))
}

// ShownDial is a dial as pages show it. Places are in percent of its axis.
type ShownDial struct {
	Name, About, Value, Error, From string
	At, Limit                       float64
}

// Shown writes a dial with an error of its value; 0: none is known, or it does not show.
func (d Dial) Shown(err float64) ShownDial {
	percent := func(v float64) float64 { return math.Round(1000*d.Place(v)) / 10 }
	out := ShownDial{Name: d.Name, About: d.About, Value: ShortValue(d.Key, d.Value), From: ShortValue(d.Key, d.Shuffled), At: percent(d.Value), Limit: percent(d.Limit)}
	switch {
	case err > 0 && isShare(d.Key):
		out.Error = "± " + shortPercent(err)
	case err > 0:
		out.Error = "± " + format.Short(err, 1)
	}
	return out
}

// Collapsed reports whether the headline calls all classes collapsed, and none of their means degenerate.
func Collapsed(r *measure.Report) bool {
	degenerate, known := r.Degenerate()
	return judgeCollapse(r).state >= collapsed && !(known && degenerate)
}

// Unusual lists what the headline names besides collapse itself; nil if there is nothing.
func Unusual(r *measure.Report) []string {
	words := unusual(r, judgeCollapse(r).state, func(k int) string { return strconv.Itoa(r.Class(k)) })
	if words == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(words, "; "), "; ")
}
