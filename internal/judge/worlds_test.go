package judge_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/inference"
	"collapse.example/collapse/internal/store"
)

// made is a run as a test made it: its settings, and what it measured by name and epoch. A value that is NaN is missing, for a reason.
type made struct {
	loss         string
	noise, width float64
	seed         int
	last         int64
	values       map[string]map[int64]float64
	degenerate   bool
	early        bool
	status       store.Status
}

const whyMissing = "class 1 is empty"

func (m made) configuration() string {
	return fmt.Sprintf("data.noise = %g, loss.kind = %s, net.width = %g", m.noise, m.loss, m.width)
}

func (m made) hash() string {
	return fmt.Sprintf("%s%03.0f%03.0f%05d", m.loss, 100*m.noise, m.width, m.seed) + strings.Repeat("0", 50)
}

// setting is one that claims name.
func (m made) setting(key string) string {
	switch key {
	case "loss.kind":
		return m.loss
	case "data.noise":
		return fmt.Sprint(m.noise)
	case "net.width":
		return fmt.Sprint(m.width)
	}
	panic(key)
}

func (m made) run(t *testing.T) judge.Run {
	t.Helper()
	config := fmt.Sprintf(`{"data":{"name":"glyphs","noise":%g},"loss":{"kind":"%s"},"net":{"kind":"mlp","width":%g},"run":{"seed":%d,"epochs":20}}`, m.noise, m.loss, m.width, m.seed)
	var values []store.Value
	for name, series := range m.values {
		split, key, _ := strings.Cut(name, ".")
		for step, v := range series {
			one := store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: key}, Step: step, Value: v}
			if math.IsNaN(v) {
				one.Value, one.Missing = 0, whyMissing
			}
			values = append(values, one)
		}
	}
	r, err := judge.NewRun(store.Run{Hash: m.hash(), Kind: store.Train, Status: m.status, Config: []byte(config)}, values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// drawRun draws what a run measured: usually at epochs 0, 5, 10 and 20.
func drawRun(r *rand.Rand, m made) made {
	m.values, m.last, m.status = map[string]map[int64]float64{}, 20, store.Done
	steps := []int64{0, 5, 10, 20}
	if r.IntN(12) == 0 {
		steps = steps[1:]
	}
	if r.IntN(12) == 0 {
		steps = []int64{0, 20}
	}
	m.early, m.degenerate = r.IntN(9) == 0 || m.early && r.IntN(3) > 0, r.IntN(9) == 0
	for _, name := range []string{"train.nc1_pinv", "test.dilation", "train.loss", "test.loss"} {
		m.values[name] = map[int64]float64{}
		for _, s := range steps {
			m.values[name][s] = math.Round(1e6*(r.Float64()-.1)) / 1e6
			if r.IntN(50) == 0 {
				m.values[name][s] = math.NaN()
			}
		}
	}
	if r.IntN(30) == 0 {
		delete(m.values, "test.dilation")
	}
	m.values["train.accuracy"] = map[int64]float64{20: map[bool]float64{false: .999, true: .9989}[m.early]}
	split := map[bool]string{false: "clean", true: "train"}[m.noise == 0]
	m.values[split+".mean_norm_ratio"] = map[int64]float64{20: map[bool]float64{false: .1, true: .0999}[m.degenerate]}
	return m
}

// drawRuns draws a study of a few settings and seeds, in any order; some runs have not finished.
func drawRuns(r *rand.Rand) (all []made) {
	hard := r.IntN(5) == 0 // those with noise hardly fit
	for _, loss := range []string{"ce", "ls"} {
		for _, noise := range []float64{0, .05, .1, .2}[:1+r.IntN(4)] {
			for _, width := range []float64{8, 64, 256}[:1+r.IntN(3)] {
				for seed := range 4 + r.IntN(4) {
					m := drawRun(r, made{loss: loss, noise: noise, width: width, seed: seed + 9, early: hard && noise > 0})
					if r.IntN(40) == 0 {
						m.status = store.Running
					}
					all = append(all, m)
				}
			}
		}
	}
	if r.IntN(8) == 0 { // a seed that changes nothing
		i, values := 1+r.IntN(len(all)-1), map[string]map[int64]float64{}
		for name, series := range all[i-1].values {
			values[name] = series
		}
		if all[i].configuration() == all[i-1].configuration() {
			all[i].values, all[i].early, all[i].degenerate = values, all[i-1].early, all[i-1].degenerate
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// side is a side of a claim, as an expression and as what it says.
type side struct {
	function, x, name string
	fraction          float64
	where             map[string]any
}

func drawSide(r *rand.Rand) side {
	s := side{function: []string{"final", "start", "at", "at", "slope"}[r.IntN(5)], x: "data.noise", name: []string{"train.nc1_pinv", "test.dilation"}[r.IntN(2)]}
	s.fraction = []float64{.25, .4, .5, .75, 1, 0}[r.IntN(6)]
	switch r.IntN(4) {
	case 0:
		s.where = map[string]any{"loss.kind": "ls"}
	case 1:
		s.where = map[string]any{"loss.kind": "ce", "data.noise": 0.1}
	}
	return s
}

func (s side) expression() string {
	var where []string
	for k, v := range s.where {
		where = append(where, fmt.Sprintf("%q: %s", k, strings.ReplaceAll(fmt.Sprintf("%#v", v), "`", `"`)))
	}
	selection := ""
	if where != nil {
		selection = ", {" + strings.Join(where, ", ") + "}"
	}
	switch s.function {
	case "at":
		return fmt.Sprintf("at(%q, %v%s)", s.name, s.fraction, selection)
	case "slope":
		return fmt.Sprintf("slope(%q, %q%s)", s.x, s.name, selection)
	}
	return fmt.Sprintf("%s(%q%s)", s.function, s.name, selection)
}

// of is the side in one seed's runs of a cell, or why there is none.
func (s side) of(kept, all []made, at map[string]string) (float64, string) {
	wanted := map[string]string{}
	for k, v := range at {
		wanted[k] = v
	}
	for k, v := range s.where {
		wanted[k] = fmt.Sprint(v)
	}
	fits := func(m made) bool {
		for k, v := range wanted {
			if m.setting(k) != v {
				return false
			}
		}
		return true
	}
	runs := pick(kept, fits)
	if len(runs) == 0 {
		return 0, "no finished run has " + strings.Trim(inOrder(at)+", "+inOrder(s.where), ", ")
	}
	if s.function == "slope" {
		return s.slope(runs)
	}
	if here, whole := len(kinds(runs)), len(kinds(pick(all, fits))); here < whole {
		return 0, fmt.Sprintf("only %d of %s may be judged", here, count(whole, "configuration"))
	}
	fraction := map[string]float64{"final": 1, "start": 0, "at": s.fraction}[s.function]
	sum := 0.0
	for _, m := range runs {
		v, why := m.at(s.name, fraction, s.function == "start")
		if why != "" {
			return 0, why
		}
		sum += v
	}
	return sum / float64(len(runs)), ""
}

// at is the value at the epoch nearest to a fraction of the run; of two as near, at the later.
func (m made) at(name string, fraction float64, start bool) (float64, string) {
	id := "run " + m.hash()[:12]
	series, ok := m.values[name]
	if !ok {
		return 0, id + " has no " + name
	}
	wanted, best := fraction*20, int64(-1)
	for step := int64(0); step <= 20; step++ {
		if _, measured := series[step]; measured && (best < 0 || math.Abs(float64(step)-wanted) <= math.Abs(float64(best)-wanted)) {
			best = step
		}
	}
	if _, zero := series[0]; start && !zero {
		return 0, id + " was not measured at epoch 0 (run.measure_start)"
	}
	if fraction > 0 && math.Abs(float64(best)-wanted) > 2.5 { // an eighth of the run
		return 0, fmt.Sprintf("%s was not measured near epoch %.0f; the nearest is %d", id, wanted, best)
	}
	if math.IsNaN(series[best]) {
		return 0, name + " of " + id + " is missing: " + whyMissing
	}
	return series[best], ""
}

// slope is that of least squares, by its definition.
func (s side) slope(runs []made) (float64, string) {
	var xs, ys []float64
	for _, m := range runs {
		y, why := m.at(s.name, 1, false)
		if why != "" {
			return 0, why
		}
		xs, ys = append(xs, m.noise), append(ys, y)
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(xs)))); n < 3 {
		return 0, fmt.Sprintf("a slope needs runs at three values of %s; there are %d", s.x, n)
	}
	above, below, mx, my := 0.0, 0.0, average(xs), average(ys)
	for i := range xs {
		above, below = above+(xs[i]-mx)*(ys[i]-my), below+(xs[i]-mx)*(xs[i]-mx)
	}
	return above / below, ""
}

func pick(all []made, keep func(made) bool) (out []made) {
	for _, m := range all {
		if keep(m) {
			out = append(out, m)
		}
	}
	return out
}

func kinds(runs []made) map[string]int {
	out := map[string]int{}
	for _, m := range runs {
		out[m.configuration()]++
	}
	return out
}

func inOrder[V any](where map[string]V) string {
	var out []string
	for k, v := range where {
		out = append(out, fmt.Sprintf("%s = %v", k, v))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// bend is a line's, from package inference, which has its own oracle.
func bend(kept []made, at map[string]string, y string) (bend, rise float64, why string) {
	var xs, ys []float64
	for _, m := range kept {
		fits := true
		for k, v := range at {
			fits = fits && m.setting(k) == v
		}
		if !fits {
			continue
		}
		v, why := m.at(y, 1, false)
		if why != "" {
			return math.NaN(), math.NaN(), why
		}
		xs, ys = append(xs, m.noise), append(ys, v)
	}
	if len(xs) == 0 {
		return math.NaN(), math.NaN(), "no finished run has " + inOrder(at)
	}
	bend, rise = inference.Bend(xs, ys)
	if math.IsNaN(bend) {
		why = "a line needs runs at three values of data.noise or more"
	}
	return bend, rise, why
}

// byHash is the order in which a recipe's runs are judged.
func byHash(a, b made) int { return cmp.Compare(a.hash(), b.hash()) }
