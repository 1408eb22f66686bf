package judge

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// Limits of the rules that keep a small study honest.
const (
	terminalAccuracy = 0.999 // least train accuracy on observed labels in the terminal phase
)

// JudgedRun is a finished run with what the rules say about it.
type JudgedRun struct {
	*Run
	Cell            string  // its configuration without the seed
	Curve           string  // the curve it belongs to: its loss, with unusual parameters
	TrainAccuracy   float64 // NaN if unknown
	Terminal        bool
	Predicted       bool    // in a state that theory predicts, whatever its accuracy and norms
	NormRatio       float64 // NaN if unknown
	Degenerate      bool
	DegenerateKnown bool

	finals  map[SeriesKey]float64 // NaN: no value
	margins []float64             // cosine margins, ascending; nil: not yet asked for
}

// lossOrder and lossNames are the losses as pages write them, lossSymbols the symbols of their settings.
var (
	lossOrder, lossNames = KindsInWords("loss.kind")
	lossUses             = usesOfLosses()
	lossSymbols          = map[string]string{"smoothing": "α", "alpha": "α", "m": "M"}
)

// KindsInWords lists the kinds that a key can have, with their titles.
func KindsInWords(key string) (order []string, titles map[string]string) {
	titles = map[string]string{}
	for _, k := range train.Kinds(key) {
		order, titles[k.Name] = append(order, k.Name), k.Title
	}
	return order, titles
}

// LossRank is the position of a loss in lossOrder.
func LossRank(kind string) int {
	if i := slices.Index(lossOrder, kind); i >= 0 {
		return i
	}
	return len(lossOrder)
}

// CurveName is the loss in words, with those of its settings that differ from the papers' usual ones.
func (r *Run) CurveName() string {
	name := cmp.Or(lossNames[r.Loss], r.Loss, string(r.Kind))
	var with []string
	for _, setting := range lossUses[r.Loss] {
		if v := r.Settings["loss."+setting]; v != "" && v != usualSettings()["loss."+setting] {
			with = append(with, cmp.Or(lossSymbols[setting], setting)+" = "+v)
		}
	}
	if len(with) > 0 {
		name += " (" + strings.Join(with, ", ") + ")"
	}
	return name
}

// usesOfLosses are the settings that each loss uses.
func usesOfLosses() map[string][]string {
	uses := map[string][]string{}
	for _, k := range train.Kinds("loss.kind") {
		uses[k.Name] = k.Uses
	}
	return uses
}

// JudgeRun applies the rules to one run.
func JudgeRun(r *Run) *JudgedRun {
	s := &JudgedRun{Run: r, Cell: r.Configuration(), Curve: r.CurveName(), TrainAccuracy: math.NaN(), NormRatio: math.NaN(),
		finals: map[SeriesKey]float64{}}
	if v, ok, _ := r.Final("train", "accuracy"); ok {
		s.TrainAccuracy, s.Terminal = v, v >= terminalAccuracy
	}
	s.NormRatio = r.cleanNormRatio()
	s.DegenerateKnown = !math.IsNaN(s.NormRatio)
	_, s.Predicted = r.predicted()
	s.Degenerate = s.NormRatio < measure.DegenerateRatio && !s.Predicted
	return s
}

// cleanNormRatio is min‖h_k‖/max‖h_k‖ over the class means of clean training samples, as measured
// during training or else from the saved features; NaN if neither exists.
func (r *Run) cleanNormRatio() float64 {
	if v, ok := r.measuredNormRatio(); ok {
		return v
	}
	f := r.Features()
	if f == nil {
		return math.NaN()
	}
	means, count := f.CleanMeans()
	lo, hi := math.Inf(1), 0.0
	for k, m := range means {
		if count[k] == 0 {
			return math.NaN()
		}
		n := floats.Norm(m, 2)
		lo, hi = math.Min(lo, n), math.Max(hi, n)
	}
	if hi == 0 {
		return 0 // every mean at the origin: as degenerate as possible
	}
	return lo / hi
}

func IsTerminal(s *JudgedRun) bool   { return s.Terminal }
func IsDegenerate(s *JudgedRun) bool { return s.Degenerate }
func IsRegular(s *JudgedRun) bool    { return !s.Degenerate }

// Seeds lists the seeds of runs, ascending, each once.
func Seeds(runs []*JudgedRun) []uint64 {
	return distinct(runs, func(s *JudgedRun) uint64 { return s.Seed })
}

func distinct[T cmp.Ordered](runs []*JudgedRun, of func(*JudgedRun) T) []T {
	values := make([]T, len(runs))
	for i, s := range runs {
		values[i] = of(s)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// bySeed groups runs by seed.
func bySeed(runs []*JudgedRun) map[uint64][]*JudgedRun {
	out := map[uint64][]*JudgedRun{}
	for _, s := range runs {
		out[s.Seed] = append(out[s.Seed], s)
	}
	return out
}

// MemoryForm is one way to sum or scale memorization.
type MemoryForm struct{ Key, Name, Axis string }

// MemoryForms are the four forms that claims are judged on. The main figure uses the first that
// runs have: M-D eq. (3), reading corrupted as "trained on a class other than its own".
var MemoryForms = []MemoryForm{
	{"memorization_flipped", "sum over flipped samples", "memorization, Σ‖h − h*‖ over flipped samples"},
	{"memorization_redrawn", "sum over redrawn samples", "displacement of redrawn samples, Σ‖h − h*‖"},
	{"memorization_mean", "mean per flipped sample", "memorization per flipped sample"},
	{"memorization_normalised", "mean, divided by ‖h₁* − h₂*‖", "memorization per flipped sample ÷ ‖h₁* − h₂*‖"},
}

// Memory is a form of memorization at the end of a run.
func (s *JudgedRun) Memory(form string) (float64, bool) { return s.Last("train", form) }

// Dilation is √NC1 of the test features at the end of a run.
func (s *JudgedRun) Dilation() (float64, bool) { return s.Last("test", "dilation") }

func (s *JudgedRun) TestAccuracy() (float64, bool) { return s.Last("test", "accuracy") }

// Last is Final, cached.
func (s *JudgedRun) Last(split, measure string) (float64, bool) {
	k := SeriesKey{split, "", measure}
	if v, known := s.finals[k]; known {
		return v, !math.IsNaN(v)
	}
	v, ok, _ := s.Final(split, measure)
	if !ok {
		v = math.NaN()
	}
	s.finals[k] = v
	return v, ok
}
