package judge_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// shelf is a lab in memory, of which reading can fail.
type shelf struct {
	rows   map[string]store.Run
	values map[string][]store.Value
	fails  map[string]error // by the reader's method
	dir    string
}

func (s *shelf) Find(prefix string) (store.Run, error) {
	row, ok := s.rows[prefix]
	if !ok {
		return row, errors.New("no such run")
	}
	return row, s.fails["Find"]
}

func (s *shelf) Values(hash string) ([]store.Value, error) {
	return slices.Clone(s.values[hash]), s.fails["Values"]
}

func (s *shelf) PickEach(hashes, measures []string) (out [][]store.Value, err error) {
	for _, hash := range hashes {
		out = append(out, slices.DeleteFunc(slices.Clone(s.values[hash]), func(v store.Value) bool { return !slices.Contains(measures, v.Measure) }))
	}
	return out, s.fails["PickEach"]
}

func (s *shelf) SumEach(hashes []string, key store.Key) (out []float64, err error) {
	for _, hash := range hashes {
		sum := 0.0
		for _, v := range s.values[hash] {
			if v.Key == key {
				sum += v.Value
			}
		}
		out = append(out, sum)
	}
	return out, s.fails["SumEach"]
}

func (s *shelf) RunDir(string) string { return s.dir }

// drawValues draws values of a few series, in any order: of some epochs none, or a reason, or both.
func drawValues(r *rand.Rand) (values []store.Value) {
	for _, split := range []string{"train", "test"} {
		for _, layer := range []string{"", "fc"} {
			for _, name := range []string{"loss", "accuracy", "nc1_pinv"} {
				for step := range int64(1 + r.IntN(7)) {
					v := store.Value{Key: store.Key{Series: []string{"epoch", "epoch", "epoch", "iteration"}[r.IntN(4)], Split: split, Layer: layer, Measure: name}, Step: step, Value: r.Float64()}
					if r.IntN(4) == 0 {
						v.Value, v.Missing = 0, "class 1 is empty"
					}
					values = append(values, v)
				}
			}
		}
	}
	for range r.IntN(3) {
		values = append(values, store.Value{Key: train.SpentKey, Step: int64(r.IntN(5)), Value: r.Float64()})
	}
	r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values
}

// sameRun compares all that a run says of its values with a plain reading of them, up to an epoch and after another.
func sameRun(t *testing.T, r judge.Run, values []store.Value) {
	t.Helper()
	last, points := int64(0), 0
	series := map[judge.SeriesKey][]store.Point{}
	for _, v := range values {
		if v.Series == "epoch" {
			k := judge.SeriesKey{Split: v.Split, Layer: v.Layer, Measure: v.Measure}
			series[k] = append(series[k], store.Point{Step: v.Step, Value: v.Value, Missing: v.Missing})
			last, points = max(last, v.Step), points+1
		}
	}
	if r.LastStep() != last {
		t.Errorf("last epoch %d, want %d", r.LastStep(), last)
	}
	for k, rows := range series {
		slices.SortFunc(rows, func(a, b store.Point) int { return int(a.Step - b.Step) })
		if !slices.Equal(r.Rows(k.Split, k.Layer, k.Measure), rows) {
			t.Errorf("%v: %v, want %v", k, r.Rows(k.Split, k.Layer, k.Measure), rows)
		}
		if k.Layer == "" {
			sameSeries(t, &r, k, rows, last)
		}
	}
	if got := r.Points(); got != points {
		t.Errorf("%d points, want %d", got, points)
	}
	if got := r.Keys(); len(got) != len(series) || slices.ContainsFunc(got, func(k judge.SeriesKey) bool { return series[k] == nil }) {
		t.Errorf("series %v, want %v", got, slices.Collect(maps.Keys(series)))
	}
}

// sameSeries compares the newest and the last value.
func sameSeries(t *testing.T, r *judge.Run, k judge.SeriesKey, rows []store.Point, last int64) {
	t.Helper()
	numbers := slices.DeleteFunc(slices.Clone(rows), func(p store.Point) bool { return p.Missing != "" })
	if !slices.Equal(r.Series(k.Split, k.Measure), numbers) {
		t.Errorf("%v: numbers %v, want %v", k, r.Series(k.Split, k.Measure), numbers)
	}
	end := rows[len(rows)-1]
	p, ok := r.Newest(k.Split, k.Measure)
	if ok != (end.Missing == "") || ok && p != end {
		t.Errorf("%v: newest %v %v, want %v", k, p, ok, end)
	}
	v, ok, why := r.Final(k.Split, k.Measure)
	want := "not measured at the last epoch"
	if end.Step == last {
		want = end.Missing
	}
	if why != want || ok != (want == "") || ok && v != end.Value {
		t.Errorf("%v: final %g %v %q, want %v of %d, %q", k, v, ok, why, end, last, want)
	}
}

// TestRunsSayWhatTheLabHolds reads drawn values at once, on demand and in two parts.
func TestRunsSayWhatTheLabHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 46))
	for range 100 {
		s := &shelf{rows: map[string]store.Run{}, values: map[string][]store.Value{}, dir: t.TempDir()}
		var names []string
		for i := range 1 + r.IntN(3) {
			name := fmt.Sprint("run", i)
			names, s.values[name] = append(names, name), drawValues(r)
			row := store.Run{Hash: name, Kind: store.Script, Status: store.Done, Config: []byte(`{"run":{"seed":4}}`)}
			for _, v := range s.values[name] {
				if v.Series == "epoch" {
					row.LastEpoch = max(row.LastEpoch, v.Step)
				}
			}
			s.rows[name] = row
		}
		now, err := judge.Load(s, names...)
		if err != nil {
			t.Fatal(err)
		}
		later, err := judge.LoadOnDemand(s, names...)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			later[0].Rows("train", "", "loss") // one measure is read before all are
		}
		spent, _ := s.SumEach(names, train.SpentKey)
		for i, name := range names {
			for _, one := range []judge.Run{now[i], later[i]} {
				if sameRun(t, one, s.values[name]); one.Seed != 4 || !(one.Spent-spent[i] < 1e-12 && spent[i]-one.Spent < 1e-12) {
					t.Errorf("seed %d, spent %g, want %g", one.Seed, one.Spent, spent[i])
				}
			}
			inParts(t, s.rows[name], s.values[name])
		}
		if judge.ReadError(later) != nil || t.Failed() {
			t.Fatal(judge.ReadError(later))
		}
	}
}

// inParts grows a run by its later epochs, and cuts it.
func inParts(t *testing.T, row store.Run, values []store.Value) {
	t.Helper()
	for cut := range int64(4) {
		early := slices.DeleteFunc(slices.Clone(values), func(v store.Value) bool { return v.Step > cut })
		late := slices.DeleteFunc(slices.Clone(values), func(v store.Value) bool { return v.Step <= cut })
		slices.SortFunc(late, func(a, b store.Value) int { return int(a.Step - b.Step) })
		first, err := judge.NewRun(row, early)
		if err != nil {
			t.Fatal(err)
		}
		row.Status = store.Running
		grown := first.Grown(row, late)
		if sameRun(t, grown, values); grown.Status != store.Running {
			t.Errorf("grown run is %s", grown.Status)
		}
		sameRun(t, first, early)
		rest := grown.After(cut)
		n := 0
		for _, v := range late {
			if v.Series == "epoch" {
				n++
			}
		}
		for _, k := range rest.Keys() {
			if rows := rest.Rows(k.Split, k.Layer, k.Measure); len(rows) == 0 || rows[0].Step <= cut {
				t.Errorf("after epoch %d: %v has %v", cut, k, rows)
			}
		}
		if rest.Points() != n {
			t.Errorf("%d points after epoch %d, want %d", rest.Points(), cut, n)
		}
	}
}

// TestRunsThatCannotBeRead: what fails is said, with the run; a later error of reading on demand stays.
func TestRunsThatCannotBeRead(t *testing.T) {
	gone := errors.New("the disk is gone")
	lab := func(config string) *shelf {
		return &shelf{rows: map[string]store.Run{"a": {Hash: "a", Config: []byte(config)}}, values: map[string][]store.Value{}, fails: map[string]error{}, dir: t.TempDir()}
	}
	for name, fails := range map[string][2]bool{"Find": {true, true}, "Values": {true, false}, "SumEach": {false, true}, "PickEach": {false, false}} {
		s := lab("")
		s.fails[name] = gone
		runs, now := judge.Load(s, "a")
		_, later := judge.LoadOnDemand(s, "a")
		if errors.Is(now, gone) != fails[0] || errors.Is(later, gone) != fails[1] || fails[0] != (runs == nil) {
			t.Errorf("%s fails: %v at once, %v on demand", name, now, later)
		}
	}
	for config, want := range map[string]string{`{"data":`: "not a JSON object", `{"data":{"noise":"much"}}`: `data.noise = "much" is not a number`, `{"run":{"seed":-1}}`: `run.seed = "-1" is not a number`, `{"run":{"seed":1.5}}`: `run.seed = "1.5"`} {
		for _, read := range []func(judge.LabReader, ...string) ([]judge.Run, error){judge.Load, judge.LoadOnDemand} {
			if _, err := read(lab(config), "a"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "run a") {
				t.Errorf("%s: %v, want %q", config, err, want)
			}
		}
	}
	for name, ask := range map[string]func(judge.Run){"Values": func(r judge.Run) { r.Keys() }, "PickEach": func(r judge.Run) { r.Rows("train", "", "loss") }} {
		s := lab("")
		runs, err := judge.LoadOnDemand(s, "a")
		if err != nil || judge.ReadError(runs) != nil {
			t.Fatal(err, judge.ReadError(runs))
		}
		s.fails[name] = gone
		ask(runs[0])
		s.fails[name] = nil
		runs[0].Keys()
		if !errors.Is(judge.ReadError(append([]judge.Run{{}}, runs...)), gone) || !errors.Is(judge.ReadError(runs), gone) {
			t.Errorf("%s: %v", name, judge.ReadError(runs))
		}
	}
	var bare judge.Run
	if bare.NoFeatures() != "the run saved no features" || bare.Folder() != "" || judge.ReadError([]judge.Run{bare}) != nil {
		t.Errorf("a bare run: %q, %q", bare.NoFeatures(), bare.Folder())
	}
}

// TestSettingsAreText: numbers without exponents, lists and words as they are, and defaults beside them only for runs of this program.
func TestSettingsAreText(t *testing.T) {
	config := []byte(`{"optim":{"lr":0.0000001,"kind":"sgd"},"run":{"epochs":1000000,"seed":7},"loss":{"kind":"ls"},"data":{"noise":0.25},"a":{"list":[1,2],"yes":true}}`)
	for _, kind := range []store.Kind{store.Train, store.Script} {
		r, err := judge.NewRun(store.Run{Kind: kind, Config: config}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"optim.lr": "0.0000001", "run.epochs": "1000000", "a.list": "[1,2]", "a.yes": "true", "loss.kind": "ls"} {
			if r.Settings[key] != want {
				t.Errorf("%s: %q, want %q", key, r.Settings[key], want)
			}
		}
		if _, usual := r.Settings["net.kind"]; usual != (kind == store.Train) || r.Loss != "ls" || r.Noise != .25 || r.Seed != 7 || r.Epochs() != 1000000 {
			t.Errorf("%s: %+v", kind, r)
		}
		if keys := judge.SettingKeys(r); !slices.IsSorted(keys) || len(keys) != len(r.Settings) || !slices.Contains(keys, "a.list") {
			t.Errorf("%s: keys %q", kind, keys)
		}
	}
	if r := new(judge.Run); r.Epochs() != 0 {
		t.Errorf("%d epochs planned of a run without settings", r.Epochs())
	}
}
