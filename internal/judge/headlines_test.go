package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

// drawStudy draws a study of which some runs are degenerate, unfitted, or measured less.
func drawStudy(t *testing.T, r *rand.Rand, noises []float64) []judge.Run {
	t.Helper()
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds, m.Jitter = []string{"ce", "ls", "lr", "mse"}[:1+r.IntN(4)], noises, 3+r.IntN(6), .3*r.Float64()
	runs := m.Runs(t)
	for i := range runs {
		run := &runs[i]
		split := map[bool]string{true: "train", false: "clean"}[run.Noise == 0]
		switch r.IntN(12) {
		case 0:
			judgetest.SetFinal(run, split, "mean_norm_ratio", .01)
		case 1:
			judgetest.SetFinal(run, "train", "accuracy", .9)
		case 2:
			judgetest.Forget(run, "test", []string{"dilation", "accuracy"}[r.IntN(2)])
		case 3:
			if run.Noise > 0 {
				judgetest.Forget(run, "train", "memorization_flipped")
			}
		case 4:
			run.Status = store.Running
		}
	}
	r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return runs
}

// numbers are what runs measured last, of those that have it.
func numbersOf(runs []judge.Run, split, name string) (out []float64) {
	for i := range runs {
		if v, ok, _ := runs[i].Final(split, name); ok {
			out = append(out, v)
		}
	}
	return out
}

func some(runs []judge.Run, keep func(judge.Run) bool) (out []judge.Run) {
	for _, r := range runs {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func isDegenerate(r judge.Run) bool {
	return slices.Contains(r.States(), judge.Degenerate)
}

func isUnfitted(r judge.Run) bool {
	v, _, _ := r.Final("train", "accuracy")
	return v < .999
}

// growth is the fact about one loss: how much memorization and dilation grew from the lowest to the highest noise.
func growth(title string, runs []judge.Run) string {
	runs = some(runs, func(r judge.Run) bool { return r.Noise > 0 && !isDegenerate(r) })
	if len(runs) == 0 {
		return ""
	}
	both := func(r judge.Run) bool {
		return len(numbersOf([]judge.Run{r}, "test", "dilation"))+len(numbersOf([]judge.Run{r}, "train", "memorization_flipped")) == 2
	}
	if !slices.ContainsFunc(runs, both) {
		return title + ": memorization and dilation were not measured in the same runs"
	}
	lo, hi := math.Inf(1), 0.0
	for _, r := range runs {
		lo, hi = math.Min(lo, r.Noise), math.Max(hi, r.Noise)
	}
	low, high := some(runs, func(r judge.Run) bool { return r.Noise == lo }), some(runs, func(r judge.Run) bool { return r.Noise == hi })
	mean := func(of []judge.Run, split, name string) string {
		return format.Digits(average(numbersOf(of, split, name)))
	}
	if lo == hi {
		return fmt.Sprintf("%s at η = %v: memorization %s, dilation %s, test accuracy %s %%", title, hi, mean(high, "train", "memorization_flipped"), mean(high, "test", "dilation"),
			format.Digits(100*average(numbersOf(high, "test", "accuracy"))))
	}
	text := fmt.Sprintf("%s: from η = %v to %v, memorization %s → %s and dilation %s → %s, means of %s", title, lo, hi, mean(low, "train", "memorization_flipped"),
		mean(high, "train", "memorization_flipped"), mean(low, "test", "dilation"), mean(high, "test", "dilation"), count(len(runs), "run"))
	if n := len(some(runs, isUnfitted)); n > 0 {
		text += fmt.Sprintf(", %d of them below 99.9 %% train accuracy and left out of the claims", n)
	}
	return text
}

// about is the fact about one loss without claims.
func about(title string, runs []judge.Run) string {
	value := func(split, name string, unit float64) string {
		v := numbersOf(runs, split, name)
		for i := range v {
			v[i] *= unit
		}
		if len(v) < 2 {
			return format.PlusMinus(average(v), math.NaN())
		}
		square := 0.0
		for _, x := range v {
			square += (x - average(v)) * (x - average(v))
		}
		return format.PlusMinus(average(v), math.Sqrt(square/float64(len(v)-1)))
	}
	text := fmt.Sprintf("%s: NC1 %s on training features, dilation %s, training accuracy %s %%, test accuracy %s %%", title, value("train", "nc1_pinv", 1), value("test", "dilation", 1), value("train", "accuracy", 100), value("test", "accuracy", 100))
	if n := len(some(runs, isUnfitted)); n > 0 {
		text += fmt.Sprintf("; %d of %s unfitted (below 99.9 %% training accuracy)", n, count(len(runs), "run"))
	}
	return text
}

// TestHeadlinesAreRestated compares headlines of drawn studies with the same facts, said a second time.
func TestHeadlinesAreRestated(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 46))
	for i := range 120 {
		noises := [][]float64{{0}, {.1}, {0, .1}, {0, .05, .1, .4}, {.05, .2}}[i%5]
		runs := drawStudy(t, r, noises)
		done := some(runs, func(r judge.Run) bool { return r.Status == store.Done })
		gs, unfinished := judge.Experiments(runs)
		if len(unfinished) != len(runs)-len(done) || len(gs) > 1 {
			t.Fatalf("%d unfinished, want %d; %d experiments", len(unfinished), len(runs)-len(done), len(gs))
		}
		var claims []judge.Claim
		noisy := i%5 > 0
		if len(gs) == 0 || len(gs[0].Runs) == 1 || gs[0].Noisy() != (noisy && slices.ContainsFunc(done, func(r judge.Run) bool { return r.Noise > 0 })) {
			if len(done) > 1 {
				t.Fatalf("noisy %v", gs)
			}
			continue
		}
		if noisy {
			claims = gs[0].Claims()
		}
		finding, numbers, facts := judge.Headline(gs, [][]judge.Claim{claims})
		var want []string
		kept := some(done, func(r judge.Run) bool { return !isDegenerate(r) })
		for _, loss := range []string{"ce", "ls", "lr", "mse"} {
			of := some(done, func(r judge.Run) bool { return r.Loss == loss })
			regular := some(kept, func(r judge.Run) bool { return r.Loss == loss })
			if len(of) == 0 {
				continue
			}
			title := format.Capital(of[0].CurveName())
			if fact := growth(title, of); noisy && fact != "" {
				want = append(want, fact)
			} else if !noisy {
				want = append(want, about(title, regular))
			}
		}
		if n := len(done) - len(kept); !noisy && n > 0 && len(kept) > 0 {
			want = append(want, count(n, "degenerate run")+" (M-D Fig. 4a) left out of the means.")
		}
		if len(kept) > 0 && !slices.Equal(facts, want) {
			t.Fatalf("%q\nwant %q", facts, want)
		}
		sameFinding(t, finding, numbers, claims, done, noises)
	}
}

// sameFinding says what the claim about growth found, and of what.
func sameFinding(t *testing.T, finding, numbers string, claims []judge.Claim, done []judge.Run, noises []float64) {
	t.Helper()
	if claims == nil {
		if finding != "How far the classes collapsed in these runs" || numbers != "Mean ± standard deviation over runs." {
			t.Errorf("%s: %s", finding, numbers)
		}
		return
	}
	want := map[judge.Verdict]string{judge.Holds: "In these runs, the more a network memorizes wrong labels, the wider its classes spread on unseen data", judge.Partly: "In these runs, the more a network memorizes wrong labels, the wider its classes spread on unseen data, but not under every loss",
		judge.Fails: "In these runs, memorizing wrong labels and spreading on unseen data do not grow together", judge.CannotTell: "These runs cannot tell whether memorizing wrong labels and spreading on unseen data grow together"}[claims[0].Verdict]
	seeds, levels := map[uint64]bool{}, map[float64]bool{}
	for _, r := range done {
		seeds[r.Seed], levels[r.Noise] = true, true
	}
	text := "Glyphs, 2 classes, " + count(len(levels), "level") + " of label noise, " + count(len(seeds), "seed") + "; dilation is √NC1 of the test features, memorization the sum over flipped samples."
	if claims[0].Verdict == judge.CannotTell {
		text = format.Capital(claims[0].Reason) + ". " + text
	}
	if finding != want || numbers != strings.Replace(text, "2 classes", done[0].Settings["data.classes"]+" classes", 1) {
		t.Errorf("%s: %s\nwant %s: %s", finding, numbers, want, text)
	}
}

// TestVerdictOfTheHeadline: growth that holds, fails and cannot be told has three headlines.
func TestVerdictOfTheHeadline(t *testing.T) {
	for want, slope := range map[judge.Verdict]float64{judge.Holds: .004, judge.Fails: -.0002, judge.CannotTell: 0} {
		m := judgetest.Common()
		m.Slope = map[string]float64{"ce": slope, "ls": slope}
		runs := m.Runs(t)
		gs, _ := judge.Experiments(runs)
		claims := gs[0].Claims()
		if claims[0].Verdict != want {
			t.Fatalf("%s, want %s", claims[0].Verdict, want)
		}
		finding, numbers, _ := judge.Headline(gs, [][]judge.Claim{claims})
		sameFinding(t, finding, numbers, claims, runs, m.Noises)
	}
	if finding, numbers, facts := judge.Headline(nil, nil); finding != "No run has finished: there is nothing to show yet" || numbers != "" || facts != nil {
		t.Errorf("%q, %q, %q", finding, numbers, facts)
	}
}

// TestHeadlineWithoutCommonRuns: memorization and dilation that no run has together are not compared.
func TestHeadlineWithoutCommonRuns(t *testing.T) {
	m := judgetest.Common()
	m.Losses = []string{"ce"}
	runs := m.Runs(t)
	for i := range runs {
		if runs[i].Seed%2 == 0 {
			judgetest.Forget(&runs[i], "test", "dilation")
		} else if runs[i].Noise > 0 {
			judgetest.Forget(&runs[i], "train", "memorization_flipped")
		}
	}
	gs, _ := judge.Experiments(runs)
	if _, _, facts := judge.Headline(gs, [][]judge.Claim{gs[0].Claims()}); !slices.Equal(facts, []string{"Cross entropy: memorization and dilation were not measured in the same runs"}) {
		t.Errorf("%q", facts)
	}
	for i := range runs {
		judgetest.SetFinal(&runs[i], map[bool]string{true: "train", false: "clean"}[runs[i].Noise == 0], "mean_norm_ratio", .01)
	}
	gs, _ = judge.Experiments(runs)
	if _, _, facts := judge.Headline(gs, [][]judge.Claim{nil}); len(facts) != 2 || facts[1] != "Every run here is degenerate (M-D Fig. 4a)." || strings.Contains(facts[0], "NC1 – on") {
		t.Errorf("%q", facts)
	}
}

// TestHeadlineOfOneRun says what the run measured, its states and what theory says of it, and nothing that it did not measure.
func TestHeadlineOfOneRun(t *testing.T) {
	m := judgetest.Common()
	m.Jitter = 0
	for name, of := range map[string]struct {
		noise   float64
		change  func(*judge.Run)
		finding string
		numbers string
	}{
		"clean": {0, func(*judge.Run) {}, "One run: cross entropy, seed 1", "After 20 epochs: training accuracy 100.00 %, test accuracy 99.00 %, NC1 1.00·10⁻⁴ and dilation 0.0500."},
		"clean, though memorization was measured": {0, func(r *judge.Run) {
			more := m
			more.More = map[[2]string]float64{{"train", "memorization_flipped"}: 0}
			*r = more.Run(t, "ce", 0, 1)
		}, "One run: cross entropy, seed 1", "After 20 epochs: training accuracy 100.00 %, test accuracy 99.00 %, NC1 1.00·10⁻⁴ and dilation 0.0500."},
		"noisy": {.2, func(*judge.Run) {}, "One run: cross entropy, η = 0.2, seed 1", "After 20 epochs: training accuracy 100.00 %, test accuracy 96.60 %, NC1 1.00·10⁻⁴, dilation 0.370 and memorization 80.0."},
		"unfitted": {0, func(r *judge.Run) {
			judgetest.SetFinal(r, "train", "accuracy", .5)
			judgetest.Forget(r, "test", "dilation")
		}, "One run: cross entropy, seed 1", "After 20 epochs: training accuracy 50.00 %, test accuracy 99.00 % and NC1 1.00·10⁻⁴. " + judge.Early.Sentence},
		"nothing": {0, func(r *judge.Run) { *r = r.After(100) }, "One run: cross entropy, seed 1", "It saved no values."},
	} {
		runs := []judge.Run{m.Run(t, "ce", of.noise, 1)}
		of.change(&runs[0])
		gs, _ := judge.Experiments(runs)
		finding, numbers, facts := judge.Headline(gs, [][]judge.Claim{gs[0].Claims()})
		if finding != of.finding || strings.ReplaceAll(numbers, "\u00a0", " ") != of.numbers || facts != nil {
			t.Errorf("%s: %q, %q, %q", name, finding, numbers, facts)
		}
	}
	runs := []judge.Run{peeled(t, 1, nil)}
	gs, _ := judge.Experiments(runs)
	if _, numbers, _ := judge.Headline(gs, [][]judge.Claim{nil}); !strings.HasSuffix(numbers, " "+runs[0].Theory()) || runs[0].Theory() == "" {
		t.Errorf("%q does not end with what theory says", numbers)
	}
}

// script is a run of somebody's own script that reported some values.
func script(t *testing.T, hash, config string, values map[string]float64) judge.Run {
	t.Helper()
	var rows []store.Value
	for name, v := range values {
		split, key, found := strings.Cut(name, "/")
		if !found {
			split, key = "", name
		}
		rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: key}, Step: 3, Value: v}, store.Value{Key: store.Key{Series: "epoch", Split: split, Layer: "fc", Measure: key}, Step: 3, Value: v})
	}
	r, err := judge.NewRun(store.Run{Hash: hash, Kind: store.Script, Status: store.Done, Config: []byte(config)}, rows)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHeadlinesOfScripts: what the script calls its values comes first, six of them at most; its settings are in the headline but for what the trainer sets.
func TestHeadlinesOfScripts(t *testing.T) {
	few := map[string]float64{"test/f1": .5, "train/nc1_pinv": .25, "depth": 7}
	if got := script(t, "a", "", few); !slices.Equal(got.OwnKeys(), []judge.SeriesKey{{Measure: "depth"}, {Split: "test", Measure: "f1"}, {Split: "train", Measure: "nc1_pinv"}}) {
		t.Errorf("%v", got.OwnKeys())
	}
	tapped := map[string]float64{"test/f1": .5, "test/cdnv": 1, "test/nc1_pinv": 2, "train/cdnv": 3, "train/nc3_centred": 4, "train/nc1_pinv": 5, "test/accuracy": 6}
	var names []string
	tap := script(t, "a", "", tapped)
	for _, k := range tap.OwnKeys() {
		names = append(names, judge.NameOf(k))
	}
	if want := "test/f1 test/accuracy train/nc1_pinv train/nc3_centred test/cdnv test/nc1_pinv train/cdnv"; strings.Join(names, " ") != want {
		t.Errorf("the order is %q, want %s", names, want)
	}
	many := map[string]float64{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}
	config := `{"optim":{"lr":0.123456789},"run":{"epochs":3,"horizon":4,"seed":2},"trainer":{"x":1}}`
	for name, of := range map[string]struct {
		runs             []judge.Run
		finding, numbers string
		facts            []string
	}{
		"one":             {[]judge.Run{script(t, "a", config, few)}, "One run of a script: lr 0.1235, seed 2", "After 3 epochs: depth 7.00, test/f1 0.500 and train/nc1_pinv 0.250.", nil},
		"many values":     {[]judge.Run{script(t, "a", config, many)}, "One run of a script: lr 0.1235, seed 2", "After 3 epochs: a 1.00, b 2.00, c 3.00, d 4.00, e 5.00 and f 6.00.", nil},
		"nothing":         {[]judge.Run{script(t, "a", "", nil)}, "One run of a script", "It has reported no values.", nil},
		"two":             {[]judge.Run{script(t, "a", `{"run":{"seed":1}}`, few), script(t, "b", `{"run":{"seed":2}}`, map[string]float64{"test/f1": 1, "depth": 7})}, "What these runs reported", "Mean ± half of Student’s 95 % interval over runs.", []string{"Script: depth 7 ± 0, test/f1 0.8 ± 3.2, train/nc1_pinv 0.25"}},
		"two, many":       {[]judge.Run{script(t, "a", `{"run":{"seed":1}}`, many), script(t, "b", `{"run":{"seed":2}}`, nil)}, "What these runs reported", "", []string{"Script: a 1, b 2, c 3, d 4, e 5, f 6"}},
		"two experiments": {[]judge.Run{script(t, "a", `{"x":{"y":1}}`, many), script(t, "b", `{"x":{"y":2}}`, nil)}, "What these runs reported", "", []string{"y 1. Script: a 1, b 2, c 3, d 4, e 5, f 6", "y 2. Script: no values were reported"}},
	} {
		gs, _ := judge.Experiments(of.runs)
		finding, numbers, facts := judge.Headline(gs, make([][]judge.Claim, len(gs)))
		if finding != of.finding || numbers != of.numbers || !slices.Equal(facts, of.facts) {
			t.Errorf("%s: %q, %q, %q", name, finding, numbers, facts)
		}
		if !judge.OnlyScripts(gs) || !gs[0].OfScripts() {
			t.Errorf("%s: no script's", name)
		}
	}
	stopped, err := judge.NewRun(store.Run{Hash: "c", Kind: store.Script, Status: store.Done}, []store.Value{{Key: store.Key{Series: "epoch", Measure: "old"}, Step: 1, Value: 1}, {Key: store.Key{Series: "epoch", Measure: "new"}, Step: 2, Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	gs, _ := judge.Experiments([]judge.Run{stopped})
	if _, numbers, _ := judge.Headline(gs, [][]judge.Claim{nil}); numbers != "After 2 epochs: new 1.00." { // an older value is not what it reported last
		t.Errorf("%q", numbers)
	}
	mixed, _ := judge.Experiments(append(judgetest.Common().Runs(t), script(t, "a", "", few)))
	if judge.OnlyScripts(mixed) || judge.OnlyScripts(nil) || new(judge.Experiment).OfScripts() {
		t.Error("runs of this program are a script's")
	}
	if finding, _, _ := judge.Headline(mixed, make([][]judge.Claim, 2)); finding != "How far the classes collapsed in these runs" {
		t.Error(finding)
	}
}

// TestAValueThatRestatesASetting is left out where it is the setting's number; another one of that name is the script's own.
func TestAValueThatRestatesASetting(t *testing.T) {
	for config, want := range map[string]bool{`{"rate":0.5}`: false, `{"rate":0.1}`: true, `{"rate":"ce"}`: true, `{}`: true} {
		run := script(t, "a", config, map[string]float64{"rate": 0.5, "test/f1": 1})
		names := ""
		for _, k := range run.OwnKeys() {
			names += judge.NameOf(k) + " "
		}
		if strings.Contains(names, "rate ") != want || !strings.Contains(names, "test/f1") {
			t.Errorf("%s: %s", config, names)
		}
	}
}
