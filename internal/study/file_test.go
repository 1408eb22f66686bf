package study

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"collapse/internal/store"
)

const goodFile = `
[study]
name = "noise"
title = "Noise"
seeds = 2

[base]
data.name = "glyphs"
data.samples_per_class = 20
data.test_samples_per_class = 10
data.pipeline = "plain"
net.depth = 1
net.width = 8
run.epochs = 2
run.batch = 20

[grid]
loss.kind = ["ce", "ls"]
data.noise = [0, 0.2, 0.4]
`

func TestAFileBecomesItsGrid(t *testing.T) {
	f, err := ParseFile("x.toml", []byte(goodFile), nil, 0)
	must(t, err)
	configs, notes, err := f.Configs()
	must(t, err)
	if f.Name != "noise" || f.Title != "Noise" || len(configs) != 12 {
		t.Fatalf("%s, %s, %d runs", f.Name, f.Title, len(configs))
	}
	seen := map[string]bool{}
	for i, c := range configs {
		seen[fmt.Sprint(c.Loss.Kind, c.Data.Noise, c.Run.Seed)] = true
		if want := fmt.Sprintf("loss %s, noise %g, seed %d", c.Loss.Kind, c.Data.Noise, c.Run.Seed); notes[i] != want {
			t.Errorf("run %d is called %q, want %q", i, notes[i], want)
		}
		if c.Net.Width != 8 || c.Run.Epochs != 2 || c.Data.Name != "glyphs" || (c.Run.Seed == 1) != (i < 6) {
			t.Errorf("run %d: %+v", i, c)
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d different runs", len(seen))
	}
	items, err := f.Items(nil)
	if err != nil || len(items) != 12 || items[3].Note != notes[3] || len(items[3].Hash) != 64 {
		t.Errorf("%d items, %v", len(items), err)
	}
}

func TestOverridesChangeBaseOrGrid(t *testing.T) {
	_, err := ParseFile("x.toml", []byte(goodFile), []string{"run.epochs=7", "data.noise=0.3", "optim.lr=[0.1, .2]", "loss.kind=mse"}, 1)
	if err == nil {
		t.Fatal(".2 in a list is not TOML")
	}
	f, err := ParseFile("x.toml", []byte(goodFile), []string{"run.epochs=7", "data.noise=0.3", "optim.lr=[0.1, 0.2]", "loss.kind=mse"}, 1)
	must(t, err)
	configs, _, err := f.Configs()
	must(t, err)
	if len(configs) != 2 || configs[0].Run.Epochs != 7 || configs[1].Data.Noise != 0.3 || configs[1].Optim.LR != 0.2 || configs[0].Loss.Kind != "mse" {
		t.Errorf("%+v", configs)
	}
	if !strings.Contains(f.Source, "# --set optim.lr=[0.1, 0.2]") || !strings.Contains(f.Source, "# --seeds 1") {
		t.Error("the source does not say what was changed")
	}
}

// For a key that takes a list, one list is one value; the grid is a list of lists or of texts.
func TestOverridesOfListsAreValues(t *testing.T) {
	base := []byte("[base]\noptim.schedule.kind = 'multistep'\noptim.schedule.milestones = [5, 6]\n")
	for override, want := range map[string][]string{
		"run.epochs=9":                                   {"5,6"},
		"optim.schedule.milestones=[60, 120]":            {"60,120"},
		"optim.schedule.milestones=[[60, 120], [80]]":    {"60,120", "80"},
		"optim.schedule.milestones=['60,120', '80, 90']": {"60,120", "80, 90"},
	} {
		f, err := ParseFile("x.toml", base, []string{override}, 1)
		must(t, err)
		configs, _, err := f.Configs()
		must(t, err)
		var got []string
		for _, c := range configs {
			got = append(got, c.Optim.Schedule.Milestones)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: milestones %q, wanted %q", override, got, want)
		}
	}
}

func TestEveryProblemOfAFileIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"keys":     {"[base]\nrun.epoch = 3\n[grid]\nlos.kind = ['ce']\n", []string{"[base] run.epoch: unknown key; did you mean run.epochs?", "[grid] los.kind: unknown key; did you mean loss.kind?"}},
		"values":   {"[grid]\ndata.noise = [0, 1.5]\nrun.seed = []\n", []string{"data.noise: is 1.5; wanted between 0 and 1", "run.seed has no values"}},
		"sections": {"[stuff]\na = 1\n", []string{"line 1: unknown key stuff"}},
		"syntax":   {"[study\n", []string{"line 1"}},
		"scalar":   {"[grid]\ndata.noise = 0.5\n", []string{"wanted a list of values"}},
		"seeds":    {"[study]\nseeds = 'many'\n", []string{"a number of seeds"}},
		"none":     {"[study]\nseeds = 0\n", []string{"at least 1"}},
		"twice":    {"[study]\nseeds = 2\n[grid]\nrun.seed = [1]\n", []string{"both list seeds"}},
		"name":     {"[study]\nname = 'a/b'\n", []string{"wanted letters"}},
	} {
		_, err := ParseFile("x.toml", []byte(c.text), nil, 0)
		var bad *FileError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", name, err, w)
			}
		}
		if !strings.HasPrefix(err.Error(), "x.toml: ") {
			t.Errorf("%s: %q does not name the file", name, err)
		}
	}
	if _, err := ParseFile("x.toml", []byte(goodFile), []string{"nonsense"}, 0); err == nil || !strings.Contains(err.Error(), "wanted section.key=value") {
		t.Errorf("%v", err)
	}
	// An impossible combination of possible values.
	f, err := ParseFile("x.toml", []byte("[base]\nnet.batch_norm = true\n[grid]\nrun.batch = [1, 2]\noptim.momentum = [0.5]\n"), nil, 0)
	if err == nil {
		_, _, err = f.Configs()
	}
	if err == nil || !strings.Contains(err.Error(), "batch norm") {
		t.Errorf("a batch of one under batch norm: %v", err)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add(goodFile)
	f.Add("[grid]\nrun.seed = [1, 2]\n")
	f.Add("[study]\nseeds = [3, 4]\n[base]\nloss = {kind = 'ls'}\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseFile("x.toml", []byte(text), nil, 0)
		if (file == nil) == (err == nil) {
			t.Fatal("neither a file nor an error, or both")
		}
	})
}

func sampleRows(n int) store.EpochRows {
	e := store.EpochRows{Epoch: 12}
	for i := range n {
		v := store.Value{Key: store.Key{Series: "epoch", Split: "train", Layer: fmt.Sprint(i % 3), Measure: fmt.Sprint("m", i%7)}, Step: int64(i), Value: math.Sqrt(float64(i)) - 3}
		if i%11 == 5 {
			v.Value, v.Missing = 0, "no inverse"
		}
		e.Rows = append(e.Rows, v)
	}
	if n > 3 {
		e.Rows[1].Value, e.Rows[2].Value = math.Inf(1), math.Copysign(0, -1)
	}
	return e
}

func TestRowsSurviveTheWay(t *testing.T) {
	for _, n := range []int{0, 1, 30, rowsPerMessage, 2*rowsPerMessage + 1} {
		want := sampleRows(n)
		var got []store.Value
		for _, m := range encodeRows(want) {
			if len(m) > 400_000 || m[0] != tagRows {
				t.Fatalf("a message of %d bytes, tag %c", len(m), m[0])
			}
			e, err := decodeRows(m[1:])
			if err != nil || e.Epoch != 12 {
				t.Fatal(e.Epoch, err)
			}
			got = append(got, e.Rows...)
			for cut := 1; cut < min(len(m), 300); cut++ {
				if _, err := decodeRows(m[1 : len(m)-cut]); err == nil {
					t.Fatalf("%d bytes short is no error", cut)
				}
			}
		}
		if n > 3 {
			want.Rows[1].Value, want.Rows[1].Missing = 0, "the value was infinite"
		}
		if diff := cmp.Diff(want.Rows, got); diff != "" {
			t.Errorf("%d rows: %s", n, diff)
		}
	}
}

func FuzzDecodeRows(f *testing.F) {
	f.Add(encodeRows(sampleRows(20))[0][1:])
	f.Add([]byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 127})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeRows(b)
		if err == nil && len(e.Rows) > len(b) {
			t.Fatalf("%d rows of %d bytes", len(e.Rows), len(b))
		}
		for _, v := range e.Rows {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Step < 0 || v.Measure == "" || len(v.Measure) > longestKey || len(v.Missing) > longestMissing ||
				!utf8.ValidString(v.Measure+v.Missing) {
				t.Fatalf("%+v", v)
			}
		}
	})
}

// parquetTexts reads a file back as texts, "" for nothing.
func parquetTexts(t *testing.T, b []byte) []map[string]string {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	columns := f.Schema().Columns()
	r := parquet.NewReader(f)
	all := make([]parquet.Row, f.NumRows())
	for n := 0; n < len(all); {
		got, err := r.ReadRows(all[n:])
		if n += got; got == 0 {
			t.Fatal(err)
		}
	}
	var out []map[string]string
	for _, row := range all {
		line := map[string]string{}
		for i, v := range row {
			switch {
			case v.IsNull():
				line[columns[i][0]] = ""
			case v.Kind() == parquet.Double:
				line[columns[i][0]] = strconv.FormatFloat(v.Double(), 'g', -1, 64)
			case v.Kind() == parquet.Int64:
				line[columns[i][0]] = strconv.FormatInt(v.Int64(), 10)
			default:
				line[columns[i][0]] = string(v.ByteArray())
			}
		}
		out = append(out, line)
	}
	return out
}

func TestExportsAgree(t *testing.T) {
	lab := saved(t, smallGrid())
	if _, err := Execute(t.Context(), lab, []string{"s"}, options(t, 2)); err != nil {
		t.Fatal(err)
	}
	var asCSV, asJSON, asParquet bytes.Buffer
	var lines [3]int
	runs, err := Select(lab.Reader, []string{"s"})
	must(t, err)
	for i, out := range []*bytes.Buffer{&asCSV, &asJSON, &asParquet} {
		lines[i], err = Export(lab.Reader, runs, []string{"csv", "json", "parquet"}[i], out)
		must(t, err)
	}
	table, err := csv.NewReader(&asCSV).ReadAll()
	must(t, err)
	var objects []map[string]any
	must(t, json.Unmarshal(asJSON.Bytes(), &objects))
	rows := parquetTexts(t, asParquet.Bytes())
	head, table := table[0], table[1:]
	if len(table) != lines[0] || len(objects) != lines[1] || len(rows) != lines[2] || lines[0] != lines[1] || lines[1] != lines[2] || lines[0] < 8*2*20 {
		t.Fatalf("%v lines; csv %d, json %d, parquet %d", lines, len(table), len(objects), len(rows))
	}
	for _, want := range []string{"loss.kind", "data.noise", "run.seed", "measure", "value"} {
		if !strings.Contains(strings.Join(head, ","), want) {
			t.Errorf("no column %s", want)
		}
	}
	kinds := map[string]bool{}
	for i, line := range table {
		for c, name := range head {
			got := objects[i][name]
			switch name {
			case "step":
				got = strconv.Itoa(int(objects[i][name].(float64)))
			case "value":
				if x, ok := objects[i][name].(float64); ok {
					got = strconv.FormatFloat(x, 'g', -1, 64)
				} else {
					got = ""
				}
			case "loss.kind":
				kinds[line[c]] = true
			case "data.noise", "run.seed":
				if _, number := got.(float64); !number {
					t.Fatalf("line %d, %s: json %q is no number", i, name, got)
				}
			}
			if _, number := got.(float64); number {
				got = SettingText(got)
			}
			fromParquet := rows[i][name]
			if got != line[c] || fromParquet != line[c] {
				t.Fatalf("line %d, %s: csv %q, json %q, parquet %q", i, name, line[c], got, fromParquet)
			}
		}
	}
	if !kinds["ce"] || !kinds["mse"] {
		t.Errorf("losses %v: a default is left out", kinds)
	}
	if _, err := Export(lab.Reader, runs, "xml", &asCSV); err == nil {
		t.Error("xml")
	}
}

func TestForesee(t *testing.T) {
	f, err := ParseFile("x.toml", []byte(goodFile), nil, 0)
	must(t, err)
	configs, _, err := f.Configs()
	must(t, err)
	items, err := f.Items(nil)
	must(t, err)
	e, err := Foresee(nil, configs, items, 2, 2)
	if err != nil || e.Runs != 12 || e.Missing != 12 || !(e.Seconds > 0) || e.Memory < 1000 || !strings.Contains(e.Basis, "1 shapes") {
		t.Errorf("%+v, %v", e, err)
	}
	lab := openLab(t)
	_, err = Save(lab, "noise", "", "", items[:5])
	must(t, err)
	if _, err := Execute(t.Context(), lab, []string{"noise"}, options(t, 2)); err != nil {
		t.Fatal(err)
	}
	claim, _, err := lab.Claim(items[5].Spec)
	must(t, err)
	must(t, claim.Fail(errors.New("it broke")))
	runs, err := lab.StudyRuns("noise", store.Done)
	must(t, err)
	var took []float64
	for _, run := range runs {
		took = append(took, run.Finished.Sub(run.Started).Seconds())
	}
	slices.Sort(took)
	e, err = Foresee(lab.Reader, configs, items, 2, 2)
	if err != nil || e.Runs != 12 || e.Missing != 6 || e.Failed != 1 || !strings.Contains(e.Basis, "5 runs of this study") {
		t.Errorf("%+v, %v", e, err)
	}
	if want := 3 * took[2]; math.Abs(e.Seconds-want) > 1e-9 { // six runs on two slots
		t.Errorf("%g s, wanted three times the median %g", e.Seconds, want)
	}
	one, err := Foresee(lab.Reader, configs, items, 1, 2)
	if err != nil || 2*one.Memory != e.Memory {
		t.Errorf("two slots take %d bytes, one %d; %v", e.Memory, one.Memory, err)
	}
}
