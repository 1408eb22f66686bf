package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse/internal/store"
)

// Limits of the rules that keep a small study honest.
const (
	terminalAccuracy = 0.999 // train accuracy on observed labels from which a run is in the terminal phase
	degenerateRatio  = 0.1   // ours: min‖h_k‖/max‖h_k‖ of clean training means below which M-D Fig. 4(a) is met
	lowNoise         = 0.2   // linearity is fitted up to here: the paper's "when mem is not large"
)

// subject is a finished run with what the rules say of it.
type subject struct {
	*Run
	cell            string  // its configuration without the seed
	curve           string  // which curve it belongs to: its loss, with parameters where they are not the usual ones
	trainAccuracy   float64 // NaN if unknown
	terminal        bool
	normRatio       float64 // NaN if unknown
	degenerate      bool
	degenerateKnown bool

	finals  map[seriesKey]float64 // NaN: no value
	margins []float64             // cosine margins, ascending; nil: not yet asked for
}

// group is the runs that share everything but loss, noise and seed: one experiment.
type group struct {
	title    string
	suffix   string // of figure IDs; "" for the first group
	settings map[string]string
	subjects []*subject
	curves   []string  // in the order of the losses
	noises   []float64 // ascending
}

// lossOrder and lossNames are the losses as pages write them.
var (
	lossOrder = []string{"ce", "ls", "lr", "mse", "rescaled_mse"}
	lossNames = map[string]string{"ce": "cross entropy", "ls": "label smoothing", "lr": "label relaxation",
		"mse": "squared error", "rescaled_mse": "rescaled squared error"}
)

// curveName is the loss in words, with the parameters that are not the papers' common ones.
func (r *Run) curveName() string {
	name, ok := lossNames[r.Loss]
	if !ok {
		name = r.Loss
	}
	if name == "" {
		name = string(r.Kind)
	}
	var with []string
	add := func(key, usual, symbol string) {
		if v := r.Settings[key]; v != "" && v != usual {
			with = append(with, symbol+" = "+v)
		}
	}
	switch r.Loss {
	case "ls", "lr":
		add("loss.smoothing", "0.1", "α")
	case "rescaled_mse":
		add("loss.alpha", "1", "α")
		add("loss.m", "1", "M")
	}
	if r.Loss == "mse" || r.Loss == "rescaled_mse" {
		add("loss.reduction", "torch", "reduction")
	}
	if len(with) > 0 {
		name += " (" + strings.Join(with, ", ") + ")"
	}
	return name
}

// judge applies the rules to one run.
func judge(r *Run) *subject {
	s := &subject{Run: r, cell: cellOf(r), curve: r.curveName(), trainAccuracy: math.NaN(), normRatio: math.NaN(),
		finals: map[seriesKey]float64{}}
	if v, ok, _ := r.Final("train", "accuracy"); ok {
		s.trainAccuracy, s.terminal = v, v >= terminalAccuracy
	}
	s.normRatio = r.cleanNormRatio()
	s.degenerateKnown = !math.IsNaN(s.normRatio)
	s.degenerate = s.normRatio < degenerateRatio
	return s
}

// cleanNormRatio is min‖h_k‖/max‖h_k‖ over the class means of clean training samples, as measured
// while training or else from the saved features; NaN if neither is there.
func (r *Run) cleanNormRatio() float64 {
	split := "clean"
	if r.Noise == 0 {
		split = "train"
	}
	if v, ok, _ := r.Final(split, "mean_norm_ratio"); ok {
		return v
	}
	if r.Features == nil {
		return math.NaN()
	}
	means, count := r.Features.CleanMeans()
	lo, hi := math.Inf(1), 0.0
	for k, m := range means {
		if count[k] == 0 {
			return math.NaN()
		}
		n := norm(m)
		lo, hi = math.Min(lo, n), math.Max(hi, n)
	}
	if hi == 0 {
		return 0 // every mean at the origin: as degenerate as can be
	}
	return lo / hi
}

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s = math.Hypot(s, x)
	}
	return s
}

// varies says which settings may differ inside a group.
func varies(key string) bool {
	return strings.HasPrefix(key, "loss.") || key == "data.noise" || key == "run.seed" || key == "data.noise_seed" ||
		strings.HasPrefix(key, "data.train_samples") || strings.HasPrefix(key, "data.test_samples")
}

// signature is equal for runs of one experiment.
func (r *Run) signature() string {
	keys := []string{"kind=" + string(r.Kind)}
	for k, v := range r.Settings {
		if !varies(k) {
			keys = append(keys, k+"="+v)
		}
	}
	sort.Strings(keys)
	return strings.Join(keys, "\n")
}

// groups sorts finished runs into experiments, the largest first, and the others into unfinished.
func groups(runs []Run) (out []*group, unfinished []*Run) {
	bySignature := map[string]*group{}
	for i := range runs {
		r := &runs[i]
		if r.Status != store.Done {
			unfinished = append(unfinished, r)
			continue
		}
		g := bySignature[r.signature()]
		if g == nil {
			g = &group{settings: r.Settings}
			bySignature[r.signature()] = g
			out = append(out, g)
		}
		g.subjects = append(g.subjects, judge(r))
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i].subjects) > len(out[j].subjects) })
	for i, g := range out {
		g.arrange()
		g.title = g.describe(out)
		if i > 0 {
			g.suffix = "-" + strconv.Itoa(i+1)
		}
	}
	return out, unfinished
}

// arrange orders the subjects and lists curves and noise levels.
func (g *group) arrange() {
	sort.SliceStable(g.subjects, func(i, j int) bool {
		a, b := g.subjects[i], g.subjects[j]
		if x, y := lossRank(a.Loss), lossRank(b.Loss); x != y {
			return x < y
		}
		if a.curve != b.curve {
			return a.curve < b.curve
		}
		if a.Noise != b.Noise {
			return a.Noise < b.Noise
		}
		if a.Seed != b.Seed {
			return a.Seed < b.Seed
		}
		return a.Hash < b.Hash
	})
	for _, s := range g.subjects {
		if !slices.Contains(g.curves, s.curve) {
			g.curves = append(g.curves, s.curve)
		}
		if !slices.Contains(g.noises, s.Noise) {
			g.noises = append(g.noises, s.Noise)
		}
	}
	slices.Sort(g.noises)
}

func lossRank(kind string) int {
	if i := slices.Index(lossOrder, kind); i >= 0 {
		return i
	}
	return len(lossOrder)
}

// describe names the data and whatever else tells this group from the others.
func (g *group) describe(all []*group) string {
	words := []string{}
	if name := g.settings["data.name"]; name != "" {
		words = append(words, fmt.Sprintf("%s, %s classes", name, g.settings["data.classes"]))
	}
	var differ []string
	for k, v := range g.settings {
		if varies(k) || k == "data.name" || k == "data.classes" || strings.HasSuffix(k, "_digest") {
			continue
		}
		for _, o := range all {
			if o.settings[k] != v {
				differ = append(differ, k+" = "+v)
				break
			}
		}
	}
	sort.Strings(differ)
	words = append(words, differ...)
	if len(words) == 0 {
		return "All runs"
	}
	return strings.Join(words, ", ")
}

// pick returns the subjects that keep accepts.
func (g *group) pick(keep func(*subject) bool) []*subject {
	var out []*subject
	for _, s := range g.subjects {
		if keep(s) {
			out = append(out, s)
		}
	}
	return out
}

func (g *group) count(keep func(*subject) bool) int { return len(g.pick(keep)) }

func isTerminal(s *subject) bool   { return s.terminal }
func isDegenerate(s *subject) bool { return s.degenerate }
func isRegular(s *subject) bool    { return !s.degenerate }

// seeds lists the seeds of some subjects, ascending, each once.
func seeds(subjects []*subject) []uint64 {
	var out []uint64
	for _, s := range subjects {
		out = append(out, s.Seed)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bySeed finds subjects by seed, for bootstrap draws.
func bySeed(subjects []*subject) map[uint64][]*subject {
	out := map[uint64][]*subject{}
	for _, s := range subjects {
		out[s.Seed] = append(out[s.Seed], s)
	}
	return out
}

// memoryForm is one way to sum or scale memorization.
type memoryForm struct{ key, name, axis string }

// memoryForms are the four forms that claims are judged on. The first that runs have is the one
// of the main figure: M-D eq. (3), corrupted read as "trained on another class than its own".
var memoryForms = []memoryForm{
	{"memorization_flipped", "sum over flipped samples", "memorization, Σ‖h − h*‖ over flipped samples"},
	{"memorization_redrawn", "sum over redrawn samples", "memorization, Σ‖h − h*‖ over redrawn samples"},
	{"memorization_mean", "mean per flipped sample", "memorization per flipped sample"},
	{"memorization_normalised", "mean, divided by ‖h₁* − h₂*‖", "memorization per flipped sample ÷ ‖h₁* − h₂*‖"},
}

// memory is a form of memorization at the end of a run.
func (s *subject) memory(form string) (float64, bool) { return s.final("train", form) }

// dilation is √NC1 of the test features at the end of a run.
func (s *subject) dilation() (float64, bool) { return s.final("test", "dilation") }

func (s *subject) testAccuracy() (float64, bool) { return s.final("test", "accuracy") }

// final is Final, remembered: a bootstrap asks for it thousands of times.
func (s *subject) final(split, measure string) (float64, bool) {
	k := seriesKey{split, "", measure}
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
