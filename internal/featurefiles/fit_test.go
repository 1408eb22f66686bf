package featurefiles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// TestArraysWithoutUsualNames: what is taken, with which words, and what is refused.
func TestArraysWithoutUsualNames(t *testing.T) {
	const n, d, k = 12, 3, 4
	rows := func(name string, shape ...int) arrayfile.Array {
		size := 1
		for _, s := range shape {
			size *= s
		}
		v := make([]float32, size)
		for i := range v {
			v[i] = float32(i*i%7) + float32(i%k)
		}
		return arrayfile.Of(name, shape, v)
	}
	labels := func(name string, n int) arrayfile.Array {
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(i % k)
		}
		return arrayfile.Of(name, []int{n}, v)
	}
	numbers := func(name string, n int) arrayfile.Array { // of samples
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(i)
		}
		return arrayfile.Of(name, []int{n}, v)
	}
	words := func(names ...string) string { return strings.Join(names, " ") }
	for name, c := range map[string]struct {
		arrays []arrayfile.Array
		key    string
		want   string // inputs and notes, or the error
	}{
		"saved by place":        {[]arrayfile.Array{rows("arr_0", n, d), labels("arr_1", n)}, "", `arr_0 arr_1 | "arr_0" is taken as the features, the only array of that shape`},
		"a name in use":         {[]arrayfile.Array{rows("hidden_states", n, d), rows("other", n, d), labels("y", n)}, "", "hidden_states y |"},
		"two names in use":      {[]arrayfile.Array{rows("z", n, d), rows("emb", n, d), labels("y", n)}, "", "several arrays could be the features: z, emb"},
		"two matrices":          {[]arrayfile.Array{rows("p", n, d), rows("q", n, d), labels("y", n)}, "", "no array is named as features usually are"},
		"two vectors":           {[]arrayfile.Array{rows("h", n, d), labels("p", n), labels("q", n)}, "", "no array is named as labels usually are"},
		"one of the length":     {[]arrayfile.Array{rows("h", n, d), labels("p", n), labels("q", n-1)}, "", `h p | "p" is taken as the labels`},
		"whole numbers":         {[]arrayfile.Array{rows("h", n, d), labels("a", n), rows("loss", n)}, "", `h a | "a" is taken as the labels`},
		"beside a weight":       {[]arrayfile.Array{rows("out", n, d), labels("y", n), rows("fc.weight", k, d), rows("fc.bias", k)}, "", `out y fc.weight fc.bias | "out" is taken as the features`},
		"layers":                {[]arrayfile.Array{rows("layer0", n, d), rows("layer1", n, d+1), rows("layer2", n, d), labels("y", n)}, "", "layer0 … layer2 are measured one by one with --layers 'layer*'"},
		"numbered columns":      {[]arrayfile.Array{rows("f10", n), rows("f2", n), rows("f1", n), labels("y", n)}, "", "f1 … f10 y | f1 … f10 is taken as the features, 3 numbered columns"},
		"two groups":            {[]arrayfile.Array{rows("a0", n), rows("a1", n), rows("b0", n), rows("b1", n), labels("y", n)}, "", "no array is named"},
		"one group by key":      {[]arrayfile.Array{rows("a0", n), rows("a1", n), rows("b0", n), rows("b1", n), labels("y", n)}, "b*", "b* y |"},
		"columns by names":      {[]arrayfile.Array{rows("width", n), rows("height", n), rows("price", n), labels("y", n)}, "width,height", "width,height y |"},
		"all columns":           {[]arrayfile.Array{rows("width", n), rows("height", n), labels("y", n)}, "*", "* y |"},
		"columns that differ":   {[]arrayfile.Array{rows("p", n), rows("q", n-1), labels("y", n)}, "p,q", `the column "p" has 12 values, and "q" has 11`},
		"no such column":        {[]arrayfile.Array{rows("a", n), labels("y", n)}, "q*", `no file holds an array "q*"`},
		"batches":               {[]arrayfile.Array{rows("features.0", 5, d), rows("features.1", n-5, d), labels("labels.0", 5), labels("labels.1", n-5)}, "", "features.0 labels.0 |"},
		"batches by key":        {[]arrayfile.Array{rows("out.0", 5, d), rows("out.1", n-5, d), labels("y", n)}, "out", "out.0 y |"},
		"samples in a list":     {[]arrayfile.Array{rows("h.0", d), rows("h.1", d), rows("h.2", d), rows("h.3", d), labels("y", 4)}, "", "h.0 y |"},
		"pairs in a list":       {[]arrayfile.Array{rows("0.0", 5, d), labels("0.1", 5), rows("1.0", n-5, d), labels("1.1", n-5)}, "", `0.0 0.1 | 0.0 … 1.0 is taken as the features, what the batches of a list hold`},
		"dicts in a list":       {[]arrayfile.Array{rows("0.feats", 5, d), labels("0.y", 5), rows("0.x", 5, d), rows("1.feats", n-5, d), labels("1.y", n-5), rows("1.x", n-5, d)}, "", "0.feats 0.y |"},
		"two matrices a batch":  {[]arrayfile.Array{rows("0.0", 5, d), rows("0.1", 5, d), labels("0.2", 5), rows("1.0", 5, d), rows("1.1", 5, d), labels("1.2", 5)}, "", "no array is named"},
		"a batch lacks one":     {[]arrayfile.Array{rows("0.0", 5, d), labels("0.1", 5), rows("1.0", n-5, d)}, "", "no array is named"},
		"a batch is missing":    {[]arrayfile.Array{rows("0.0", 5, d), labels("0.1", 5), rows("2.0", n-5, d), labels("2.1", n-5)}, "", "no array is named"},
		"batches and others":    {[]arrayfile.Array{rows("0.0", 5, d), labels("0.1", 5), rows("1.0", 5, d), labels("1.1", 5), rows("p", 5, d), rows("q", 5, d)}, "", "no array is named"},
		"ground truth":          {[]arrayfile.Array{rows("feats", n, d), labels("gts", n), labels("preds", n)}, "", "feats gts |"},
		"lists of benchmarks":   {[]arrayfile.Array{rows("feat_list", n, d), rows("logit_list", n, k), labels("label_list", n)}, "", "feat_list label_list |"},
		"beside numbers":        {[]arrayfile.Array{rows("h", n, d), numbers("id", n), labels("species", n)}, "", `h species | "species" is taken as the labels, the only array of that shape whose values repeat`},
		"beside one value":      {[]arrayfile.Array{rows("h", n, d), arrayfile.Of("split", []int{n}, make([]int64, n)), labels("species", n)}, "", `h species | "species" is taken as the labels`},
		"numbers of samples":    {[]arrayfile.Array{rows("h", n, d), numbers("id", n), numbers("place", n)}, "", "no array is named as labels usually are"},
		"many columns":          {[]arrayfile.Array{rows("a0", n), rows("a1", n), rows("a2", n), rows("a3", n), rows("b0", n), rows("b1", n), labels("y", n)}, "", `it has "a0" … "a3" each F32 12, "b0" F32 12, "b1" F32 12, "y" I64 12;`},
		"a list that lacks one": {[]arrayfile.Array{rows("features.0", 5, d), rows("features.2", n-5, d), labels("y", n)}, "", "no array is named"},
	} {
		path := npzOf(t, c.arrays)
		req := Request{Files: []string{path}}
		req.Keys[Features] = c.key
		s, err := Open(req)
		got := fmt.Sprint(err)
		if err == nil {
			var taken []string
			for _, in := range s.Inputs {
				taken = append(taken, in.Array)
			}
			var notes []string
			for _, note := range s.Notes {
				if strings.Contains(note, "is taken as") {
					notes = append(notes, note)
				}
			}
			if s.Columns[0].N != s.Inputs[0].Shape[0] || s.Columns[0].D == 0 {
				t.Errorf("%s: %+v", name, s.Columns[0])
			}
			got = words(append(append(taken, "|"), notes...)...)
			got = strings.ReplaceAll(got, path+": ", "")
			s.Close()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}

// TestListsOfFilesStayInTheirFolder: what a list of shards may name.
func TestListsOfFilesStayInTheirFolder(t *testing.T) {
	for text, want := range map[string]string{
		`{"weight_map": {"features": "../x.safetensors"}}`:         "is not the name of a file beside it",
		`{"weight_map": {"features": "/etc/passwd"}}`:              "is not the name of a file beside it",
		`{"weight_map": {"features": ".."}}`:                       "is not the name of a file beside it",
		`{"weight_map": {"features": ""}}`:                         "is not the name of a file beside it",
		`{"weight_map": {}}`:                                       "names 0 files",
		`{"weight_map": [1]}`:                                      "want a list of the files of a model",
		`[]`:                                                       "want a list of the files of a model",
		`{"weight_map": {"features": "missing.safetensors"}}`:      "names missing.safetensors",
		`{"weight_map": {"features": "m.safetensors.index.json"}}`: "it has no array",
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors.index.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Request{Files: []string{path}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestFoldersOfDatasets: what is missing is said. TestFilesOfOtherPrograms reads one.
func TestFoldersOfDatasets(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ file, want string }{{datasetInfo, "no .arrow file"}, {datasetSplits, "holds the splits of a dataset"}} {
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Request{Files: []string{dir}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a folder with %s: %v, want %q", c.file, err, c.want)
		}
	}
}
