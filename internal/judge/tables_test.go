package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/inference"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// lastCommon is the last epoch at which all runs that have a value have one.
func lastCommon(runs []made, name string) (epoch int64, with int) {
	epoch = -1
	for step := int64(0); step <= 20; step++ {
		have := 0
		for _, m := range runs {
			if _, ok := m.values[name][step]; ok {
				have++
			}
		}
		with = len(pick(runs, func(m made) bool { return len(m.values[name]) > 0 }))
		if have == with && with > 0 {
			epoch = step
		}
	}
	return epoch, with
}

// TestTablesAreMeansOverSeeds fills drawn tables of drawn studies and computes each cell again from the runs: the mean over a seed's runs, then over
// seeds.
func TestTablesAreMeansOverSeeds(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 46))
	seen := map[string]int{}
	for range longtest.Of(150, 1500) {
		all := drawRuns(r)
		if r.IntN(4) == 0 { // some stopped
			for i := range all {
				delete(all[i].values["test.dilation"], int64(20*(i%2)))
			}
		}
		var runs []judge.Run
		for _, m := range all {
			runs = append(runs, m.run(t))
		}
		table := judge.Table{Title: "T", Caption: "C.", Rows: [][]string{{"loss.kind"}, {"net.width", "data.noise"}, {"data.noise", "loss.kind"}}[r.IntN(3)], Values: []string{"test.dilation", "train.nc1_pinv", "net.width"},
			Percent: []string{"train.nc1_pinv"}, Runs: []string{"", "regular", "degenerate"}[r.IntN(3)]}
		if r.IntN(3) == 0 {
			table.Where = map[string]any{"loss.kind": "ls"}
		}
		done := pick(all, func(m made) bool {
			return m.status == store.Done && matches(m, table.Where) && (table.Runs == "" || m.degenerate == (table.Runs == "degenerate"))
		})
		got, err := table.Fill(runs)
		epoch, with := lastCommon(done, "test.dilation")
		_, others := lastCommon(done, "train.nc1_pinv")
		switch {
		case len(done) > 0 && with == 0:
			if err == nil || !strings.Contains(err.Error(), `table "T": no run has test.dilation`) {
				t.Fatal(err)
			}
			seen["none"]++
		case with > 0 && epoch < 0:
			if err == nil || !strings.Contains(err.Error(), "test.dilation has no epoch at which all its runs have it") {
				t.Fatal(err)
			}
			seen["no epoch"]++
		case err != nil:
			t.Fatal(err)
		default:
			sameTable(t, table, got, done, seen)
			seen[fmt.Sprint("early ", epoch >= 0 && epoch < 20 && others > 0)]++
		}
	}
	for _, name := range []string{"early true", "early false", "no epoch", "missing", "no epoch near", "no value", "one seed"} {
		if seen[name] == 0 && name != "no epoch near" {
			t.Errorf("no table with %q: %v", name, seen)
		}
	}
}

func sameTable(t *testing.T, table judge.Table, got judge.Tabled, done []made, seen map[string]int) {
	t.Helper()
	q := question{Statement: judge.Statement{Cells: table.Rows}}
	cells := q.cells(done)
	if len(got.Lines) != len(cells) || !slices.Equal(got.Rows, table.Rows) || !slices.Equal(got.Percent, []bool{false, true, false}) {
		t.Fatalf("%+v, want %v", got, cells)
	}
	var early []string
	last := int64(0)
	for _, m := range done {
		for _, series := range m.values {
			for step := range series {
				last = max(last, step)
			}
		}
	}
	for _, name := range table.Values[:2] {
		if epoch, _ := lastCommon(done, name); epoch >= 0 && epoch < last {
			early = append(early, fmt.Sprintf("%s at epoch %d", name, epoch))
		}
	}
	caption := "C. Mean ± half of Student’s 95 % interval over seeds, n of them"
	if len(early) > 0 {
		caption += ", at the last epoch that all runs have: " + strings.Join(early, ", ")
	}
	if got.Caption != caption+"." {
		t.Fatalf("%s, want %s", got.Caption, caption)
	}
	for i, line := range got.Lines {
		in := pick(done, func(m made) bool {
			for k, v := range cells[i] {
				if m.setting(k) != v {
					return false
				}
			}
			return true
		})
		for j, key := range table.Rows {
			if line.Settings[j] != cells[i][key] {
				t.Fatalf("%q, want %v", line.Settings, cells[i])
			}
		}
		for j, name := range table.Values {
			epoch, _ := lastCommon(done, name)
			sameCell(t, line.Cells[j], in, name, epoch, seen)
		}
	}
	sameFiles(t, got)
}

func sameCell(t *testing.T, got judge.TableCell, in []made, name string, epoch int64, seen map[string]int) {
	t.Helper()
	runs := 0
	bySeed := map[int][]float64{}
	missing := ""
	for _, m := range in {
		v, ok := m.values[name][epoch]
		if name == "net.width" {
			v, ok = m.width, true
		}
		switch {
		case ok && !math.IsNaN(v):
			runs++
			bySeed[m.seed] = append(bySeed[m.seed], v)
		case missing == "" && ok:
			missing = fmt.Sprintf("%s of run %s is missing: %s", name, m.hash()[:12], whyMissing)
		case missing == "":
			missing = fmt.Sprintf("run %s has no %s at epoch %d", m.hash()[:12], name, epoch)
		}
	}
	if missing != "" {
		seen[map[bool]string{true: "missing", false: "no value"}[strings.Contains(missing, "is missing")]]++
	}
	var means []float64
	for seed := range 100 {
		if v := bySeed[seed]; v != nil {
			means = append(means, average(v))
		}
	}
	want := inference.Mean(means)
	if len(means) == 1 {
		seen["one seed"]++
	}
	same := func(a judge.Quantity, b float64) bool {
		return math.IsNaN(float64(a)) == math.IsNaN(b) && !(math.Abs(float64(a)-b) > 1e-12)
	}
	if got.Of != len(in) || got.Runs != runs || got.N != len(means) || got.Missing != missing || !same(got.Mean, want.Value) || !same(got.Lo, want.Lo) || !same(got.Hi, want.Hi) {
		t.Fatalf("%s: %+v, want %+v of %d of %d runs, missing %q", name, got, want, runs, len(in), missing)
	}
}

// sameFiles reads the table in its three forms.
func sameFiles(t *testing.T, got judge.Tabled) {
	t.Helper()
	shown, lines, tex := got.Shown(), got.CSV(), got.LaTeX()
	if len(shown.Rows) != len(got.Lines) || len(lines) != 1+3*len(got.Lines) || strings.Count(tex, `\\`) != 1+len(got.Lines) || !strings.Contains(tex, `\begin{tabular}{`+strings.Repeat("l", len(got.Rows))+"rrrrrr}") {
		t.Fatalf("%d, %d lines:\n%s", len(shown.Rows), len(lines), tex)
	}
	for i, line := range got.Lines {
		for j, c := range line.Cells {
			unit := map[bool]float64{true: 100, false: 1}[got.Percent[j]]
			at := len(got.Rows) + 2*j
			checkText(t, shown.Rows[i][at], unit*float64(c.Mean), unit*float64(c.Hi-c.Lo)/2)
			counted := strconv.Itoa(c.N)
			if c.Runs < c.Of {
				counted += fmt.Sprintf(" (%d of %d runs)", c.Runs, c.Of)
			}
			if shown.Rows[i][at+1] != counted {
				t.Fatalf("%q, want %q", shown.Rows[i][at+1], counted)
			}
			var numbers []string
			for _, v := range []judge.Quantity{c.Mean, c.Lo, c.Hi} {
				text := ""
				if !math.IsNaN(float64(v)) {
					text = strconv.FormatFloat(float64(v), 'g', -1, 64)
				}
				numbers = append(numbers, text)
			}
			want := slices.Concat(line.Settings, []string{got.Values[j]}, numbers, []string{strconv.Itoa(c.N), strconv.Itoa(c.Runs), strconv.Itoa(c.Of), c.Missing})
			if !slices.Equal(lines[1+3*i+j], want) {
				t.Fatalf("%q, want %q", lines[1+3*i+j], want)
			}
		}
	}
}

var plainPower = strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")

// checkText reads "mean ± half": both have the same decimals, of which the interval has two digits, and are the numbers to half of the last one.
func checkText(t *testing.T, text string, mean, half float64) {
	t.Helper()
	if math.IsNaN(mean) {
		if text != "–" {
			t.Fatalf("no number is written %q", text)
		}
		return
	}
	text = strings.ReplaceAll(text, "−", "-")
	if inner, power, scaled := strings.Cut(strings.TrimPrefix(text, "("), ")·10"); scaled {
		e, err := strconv.Atoi(plainPower.Replace(power))
		if err != nil {
			t.Fatal(err)
		}
		text, mean, half = inner, mean/math.Pow(10, float64(e)), half/math.Pow(10, float64(e))
	}
	left, right, two := strings.Cut(text, " ± ")
	if two == (math.IsNaN(half) || half == 0) {
		t.Fatalf("%q of %g ± %g", text, mean, half)
	}
	if half > 0 && half < 1e-12 && right == "< 10⁻¹²" { // equal but for rounding
		return
	}
	v, err := strconv.ParseFloat(left, 64)
	if err != nil || !two {
		if err != nil || !(math.Abs(v-mean) <= 1e-3*math.Abs(mean)) {
			t.Fatalf("%q of %g", text, mean)
		}
		return
	}
	h, err := strconv.ParseFloat(right, 64)
	_, decimals, _ := strings.Cut(left, ".")
	_, others, _ := strings.Cut(right, ".")
	step := math.Pow(10, -float64(len(decimals)))
	if err != nil || len(decimals) != len(others) || !(math.Abs(v-mean) <= .5001*step) || !(math.Abs(h-half) <= .5001*step) || len(decimals) > 0 && !(h >= 9.9*step && h < 100.1*step) {
		t.Fatalf("%q of %g ± %g", text, mean, half)
	}
}

// TestNumbersOfTables: two digits of the interval, none beyond the point for large ones, and a few of numbers that are far apart.
func TestNumbersOfTables(t *testing.T) {
	for _, of := range []struct {
		mean, half float64
		percent    bool
		want       string
	}{{12.3456, .123, false, "12.35 ± 0.12"}, {12.3456, 1.23, false, "12.3 ± 1.2"}, {1234.56, 12.3, false, "1235 ± 12"}, {1234.56, 999, false, "1235 ± 999"}, {.5, .0123, true, "50.0 ± 1.2"},
		{-.5, .1, false, "−0.50 ± 0.10"}, {.5, 1.01e-5, false, "0.500000 ± 0.000010"}, {.5, .99e-5, false, "0.5000000 ± 0.0000099"}, {999999, 1e4, false, "999999 ± 10000"}, {1e6, 10, false, "(1.000000 ± 0.000010)·10⁶"}, {2, 0, false, "2"}, {2.34567, math.NaN(), false, "2.346"}} {
		half := judge.Quantity(of.half)
		table := judge.Tabled{Rows: []string{"a"}, Values: []string{"v"}, Percent: []bool{of.percent}, Lines: []judge.TableLine{{Settings: []string{"1"}, Cells: []judge.TableCell{{Mean: judge.Quantity(of.mean), Lo: judge.Quantity(of.mean) - half, Hi: judge.Quantity(of.mean) + half}}}}}
		if got := table.Shown().Rows[0][1]; got != of.want {
			t.Errorf("%g ± %g: %q, want %q", of.mean, of.half, got, of.want)
		}
		if tex := table.LaTeX(); strings.ContainsFunc(tex, func(c rune) bool { return c > 126 }) {
			t.Errorf("%g ± %g: signs that LaTeX does not know: %s", of.mean, of.half, tex)
		}
	}
}

// TestTablesThatCannotBeFilled: what is wrong is said with the table's title, all of it.
func TestTablesThatCannotBeFilled(t *testing.T) {
	good := func() judge.Table {
		return judge.Table{Title: "T", Rows: []string{"loss.kind"}, Values: []string{"test.accuracy", "train.loss"}, Percent: []string{"test.accuracy"}, Where: map[string]any{"data.noise": .1}, Runs: "regular"}
	}
	if err := good().Check(judge.Vocabulary{}); err != nil {
		t.Error(err)
	}
	long := good()
	long.Values = slices.Repeat([]string{"train.loss"}, 29)
	if long.Percent = nil; long.Check(judge.Vocabulary{}) != nil {
		t.Error(long.Check(judge.Vocabulary{}))
	}
	for want, change := range map[string]func(*judge.Table){
		`table "": title, rows (settings) and values`: func(t *judge.Table) { t.Title = "" },
		`title, rows`:                              func(t *judge.Table) { t.Rows = nil },
		`values (names) must be given`:             func(t *judge.Table) { t.Values = nil },
		`at most 30 together`:                      func(t *judge.Table) { t.Values = slices.Repeat(t.Values[1:], 30) },
		`rows or where names "loss.kin"`:           func(t *judge.Table) { t.Rows = []string{"loss.kin"} },
		`did you mean data.noise?`:                 func(t *judge.Table) { t.Where = map[string]any{"data.nois": 1} },
		`no measure is called "acuracy"`:           func(t *judge.Table) { t.Values = append(t.Values, "test.acuracy") },
		`percent names "test.loss", which is not`:  func(t *judge.Table) { t.Percent = []string{"test.loss"} },
		`runs is "odd", wanted regular or degener`: func(t *judge.Table) { t.Runs = "odd" },
	} {
		bad := good()
		change(&bad)
		if err := bad.Check(judge.Vocabulary{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `table "`+bad.Title+`"`) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	script := judge.Vocabulary{Script: true, Settings: []string{"lr"}}
	own := judge.Table{Title: "T", Rows: []string{"lr", "run.seed"}, Values: []string{"test/f1"}}
	if err := own.Check(script); err != nil {
		t.Error(err)
	}
	own.Rows = []string{"l"}
	if err := own.Check(script); err == nil || !strings.Contains(err.Error(), `names "l", which is not a setting`) {
		t.Error(err)
	}
}
