package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/studytest"
)

var must = studytest.Must

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

// TestSettingsOfParquet: where each run that has a setting has a number, the column holds numbers, whole ones if all are.
func TestSettingsOfParquet(t *testing.T) {
	settings := []map[string]any{{"whole": 1.0, "some": 2.0, "half": 1.0, "far": 1e17, "mixed": 1.0, "text": "a", "truth": true}, {"whole": -3.0, "half": .5, "far": 2.0, "mixed": "two", "text": "b", "truth": false}}
	for key, want := range map[string]parquet.Kind{"whole": parquet.Int64, "some": parquet.Int64, "half": parquet.Double, "far": parquet.Double, "mixed": parquet.ByteArray, "text": parquet.ByteArray, "truth": parquet.ByteArray} {
		if got := settingKind(settings, key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	keys := []string{"half", "some", "text"}
	var b bytes.Buffer
	w, err := newTidyWriter("parquet", keys, settings, &b)
	must(t, err)
	for _, own := range settings {
		w.begin([]string{"s", "r", "train", "done", ""}, []any{own["half"], own["some"], own["text"]})
		must(t, w.write(store.Value{Step: 7, Value: 2.5}))
	}
	must(t, w.close())
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	must(t, err)
	for key, want := range map[string]parquet.Kind{"half": parquet.Double, "some": parquet.Int64, "text": parquet.ByteArray, "step": parquet.Int64, "value": parquet.Double} {
		if c, ok := f.Schema().Lookup(key); !ok || c.Node.Type().Kind() != want {
			t.Errorf("%s is not of kind %v", key, want)
		}
	}
	rows := parquetTexts(t, b.Bytes())
	for i, want := range []string{"1 2 a 7 2.5", "0.5  b 7 2.5"} {
		if got := strings.Join([]string{rows[i]["half"], rows[i]["some"], rows[i]["text"], rows[i]["step"], rows[i]["value"]}, " "); got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
}

func TestExportsAgree(t *testing.T) {
	lab := studytest.Saved(t, studytest.SmallGrid())
	if _, err := coordinator.Execute(t.Context(), lab, []string{"s"}, coordinator.Options{Slots: 2, Threads: 2, Queue: studytest.QuickQueue(), Logf: t.Logf}); err != nil {
		t.Fatal(err)
	}
	var asCSV, asJSON, asParquet bytes.Buffer
	var lines [3]int
	runs, err := Select(lab.Reader, []string{"s"})
	must(t, err)
	for i, out := range []*bytes.Buffer{&asCSV, &asJSON, &asParquet} {
		lines[i], err = Table(lab.Reader, runs, []string{"csv", "json", "parquet"}[i], out)
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
					t.Fatalf("line %d, %s: json %q is not a number", i, name, got)
				}
			}
			if _, number := got.(float64); number {
				got = study.SettingText(got)
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
	if _, err := Table(lab.Reader, runs, "xml", &asCSV); err == nil {
		t.Error("xml")
	}
}

// TestSettingsThatAreCalledAsAColumn have a column of their own, and take no other's place.
func TestSettingsThatAreCalledAsAColumn(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	must(t, err)
	defer lab.Close()
	var runs []Selected
	for i := range 2 {
		config := map[string]any{}
		for _, name := range append(slices.Clone(tidyColumns), "lr") {
			config[name] = i + 1
		}
		lease, _, err := lab.Lease(store.Spec{Kind: store.Script, Config: config})
		must(t, err)
		must(t, lease.AppendEpoch(3, []store.Value{{Key: store.Key{Series: "epoch", Split: "val", Measure: "f1"}, Step: 3, Value: 0.25}}))
		must(t, lease.Finish())
		runs = append(runs, Selected{StudyRun: store.StudyRun{Hash: lease.Hash, Kind: store.Script, Status: store.Done, Note: "n"}})
	}
	rows := map[string][]map[string]string{}
	for _, format := range []string{"csv", "json", "parquet"} {
		var b bytes.Buffer
		n, err := Table(lab.Reader, runs, format, &b)
		if must(t, err); n != 2 {
			t.Fatalf("%s: %d rows", format, n)
		}
		switch format {
		case "csv":
			lines, err := csv.NewReader(&b).ReadAll()
			must(t, err)
			for _, line := range lines[1:] {
				row := map[string]string{}
				for i, name := range lines[0] {
					if _, twice := row[name]; twice {
						t.Errorf("two columns are called %s", name)
					}
					row[name] = line[i]
				}
				rows[format] = append(rows[format], row)
			}
		case "json":
			var list []map[string]any
			must(t, json.Unmarshal(b.Bytes(), &list))
			for _, object := range list {
				row := map[string]string{}
				for name, v := range object {
					row[name] = study.SettingText(v)
				}
				rows[format] = append(rows[format], row)
			}
		default:
			rows[format] = parquetTexts(t, b.Bytes())
		}
	}
	for format, list := range rows {
		for i, row := range list {
			if row["split"] != "val" || row["measure"] != "f1" || row["step"] != "3" || row["value"] != "0.25" || row["lr"] != strconv.Itoa(i+1) {
				t.Errorf("%s: %v", format, row)
			}
			for _, name := range tidyColumns {
				if row["setting."+name] != strconv.Itoa(i+1) {
					t.Errorf("%s: setting.%s is %q", format, name, row["setting."+name])
				}
			}
		}
	}
}
