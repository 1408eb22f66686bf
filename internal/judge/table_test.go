package judge_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

// TestTablesAreFilled: two losses by five noises, six seeds, against means and Student's intervals by hand.
func TestTablesAreFilled(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	table := judge.Table{Title: "T", Rows: []string{"loss.kind", "data.noise"}, Values: []string{"test.accuracy", "train.nc1_pinv"}, Percent: []string{"test.accuracy"}}
	got, err := table.Fill(runs)
	if err != nil || len(got.Lines) != 10 || len(got.Lines[0].Cells) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, line := range got.Lines {
		var values []float64
		for i := range runs {
			if r := &runs[i]; r.Settings["loss.kind"] == line.Settings[0] && r.Settings["data.noise"] == line.Settings[1] {
				v, _, _ := r.Final("test", "accuracy")
				values = append(values, v)
			}
		}
		mean, square := judge.Mean(values), 0.0
		for _, v := range values {
			square += (v - mean) * (v - mean)
		}
		half := 2.570581836 * math.Sqrt(square/5/6) // t at 5 degrees of freedom
		c := line.Cells[0]
		if len(values) != 6 || c.N != 6 || c.Runs != 6 || c.Of != 6 || !(math.Abs(float64(c.Mean)-mean) < 1e-12) || !(math.Abs(float64(c.Hi-c.Lo)/2-half) < 1e-8) {
			t.Errorf("%v: %+v, by hand %g ± %g of %d", line.Settings, c, mean, half, len(values))
		}
	}
	if shown := got.Shown(); !slices.Equal(shown.Columns, []string{"loss.kind", "data.noise", "test.accuracy, %", "n", "train.nc1_pinv", "n"}) || shown.Rows[0][0] != "ce" || shown.Rows[0][2] != "99.000" && !strings.HasPrefix(shown.Rows[0][2], "99") {
		t.Errorf("%v\n%v", shown.Columns, shown.Rows[0])
	}
}

// TestTablesCompareOneEpoch: runs that ended at different epochs are compared where all have values, and the table says so.
func TestTablesCompareOneEpoch(t *testing.T) {
	var runs []judge.Run
	for seed := 1; seed <= 3; seed++ {
		r := judgetest.Common().Run(t, "ce", 0, seed)
		var values []store.Value
		for epoch := int64(1); epoch <= int64(2+2*seed); epoch++ { // to 4, 6 and 8
			values = append(values, store.Value{Key: store.Key{Series: "epoch", Split: "test", Measure: "accuracy"}, Step: epoch, Value: float64(epoch) / 10})
		}
		one, err := judge.NewRun(r.Run, values)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, one)
	}
	got, err := judge.Table{Title: "T", Rows: []string{"loss.kind"}, Values: []string{"test.accuracy"}}.Fill(runs)
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Lines[0].Cells[0]; !(math.Abs(float64(c.Mean)-0.4) < 1e-12) || c.N != 3 || !strings.Contains(got.Caption, "test.accuracy at epoch 4") {
		t.Errorf("%+v: %s", c, got.Caption)
	}
	if _, err := (judge.Table{Title: "T", Rows: []string{"loss.kind"}, Values: []string{`final("test.loss")`}}).Fill(runs); err == nil || !strings.Contains(err.Error(), `no run has final("test.loss"): a table takes names alone`) {
		t.Error(err)
	}
	if _, err := (judge.Table{Title: "T", Rows: []string{"loss.kind"}, Values: []string{"test.acuracy"}}).Fill(runs); err == nil || !strings.Contains(err.Error(), "no run has test.acuracy; did you mean test/accuracy?") {
		t.Error(err)
	}
	runs[0].Status = store.Running
	if got, err = (judge.Table{Title: "T", Rows: []string{"loss.kind"}, Values: []string{"test.accuracy"}}).Fill(runs); err != nil || got.Lines[0].Cells[0].N != 2 || !(math.Abs(float64(got.Lines[0].Cells[0].Mean)-0.6) < 1e-12) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTablesAsFiles: CSV has all digits, and LaTeX no character that means something.
func TestTablesAsFiles(t *testing.T) {
	table := judge.Tabled{Title: `50 % of a_b & \c`, Caption: "x", Rows: []string{"opt.lr"}, Values: []string{"test/f_1"}, Percent: []bool{true},
		Lines: []judge.TableLine{{Settings: []string{"0.1"}, Cells: []judge.TableCell{{Mean: 0.91234567, Lo: 0.90234567, Hi: 0.92234567, N: 5, Runs: 5, Of: 6, Missing: "why"}}},
			{Settings: []string{"1"}, Cells: []judge.TableCell{{Mean: judge.Quantity(math.NaN()), Lo: judge.Quantity(math.NaN()), Hi: judge.Quantity(math.NaN()), Of: 6}}}}}
	if got, want := fmt.Sprint(table.Shown().Rows), "[[0.1 91.2 ± 1.0 5 (5 of 6 runs)] [1 – 0 (0 of 6 runs)]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(table.CSV()[1]), "[0.1 test/f_1 0.91234567 0.90234567 0.92234567 5 5 6 why]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	tex := table.LaTeX()
	for _, want := range []string{`opt.lr & test/f\_1, \% & n \\`, `0.1 & 91.2 $\pm$ 1.0 & 5 (5 of 6 runs) \\`, `1 & -- & 0 (0 of 6 runs) \\`, `\caption{50 \% of a\_b \& \textbackslash{}c. x}`, `\begin{tabular}{lrr}`} {
		if !strings.Contains(tex, want) {
			t.Errorf("%q is missing:\n%s", want, tex)
		}
	}
}

// TestWhatATableAveragesOverIsSaid: of scripts, whose author need not know, a caption names the settings that its rows do not.
func TestWhatATableAveragesOverIsSaid(t *testing.T) {
	var runs []judge.Run
	for i := range 8 {
		config := fmt.Sprintf(`{"lr":%d,"wd":%d,"run":{"epochs":1,"horizon":1,"seed":%d},"trainer":{"command":["x"],"code":{}}}`, i%2, i/2%2, i/4)
		run, err := judge.NewRun(store.Run{Hash: fmt.Sprintf("%064x", i), Kind: store.Script, Status: store.Done, HasEpochs: true, LastEpoch: 1, Config: []byte(config)},
			[]store.Value{{Key: store.Key{Series: "epoch", Measure: "f1"}, Step: 1, Value: float64(i)}})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	for rows, want := range map[string]string{"lr": "over seeds, n of them, each a mean over wd.", "lr wd": "over seeds, n of them."} {
		filled, err := judge.Table{Title: "t", Rows: strings.Fields(rows), Values: []string{"f1"}}.Fill(runs)
		if err != nil || !strings.HasSuffix(filled.Caption, want) {
			t.Errorf("%s: %q, %v", rows, filled.Caption, err)
		}
	}
}
