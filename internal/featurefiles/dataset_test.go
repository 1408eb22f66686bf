package featurefiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// TestDatasetsInRoles: the folder of a dataset is taken wherever files are, and what it holds for another role is read, too.
func TestDatasetsInRoles(t *testing.T) {
	const dataset = "testdata/origins/dataset"
	set, err := Open(Request{Files: []string{dataset}, From: [roleCount][]string{TestFeatures: {"testdata/origins/dataset_mapped"}, OOD: {dataset}}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	r, err := set.Measure(0, measure.Options{})
	if err != nil || len(set.Notes) != 0 {
		t.Fatal(set.Notes, err)
	}
	for name, want := range map[string]float64{"test_ncc_accuracy": 1, "ood_auroc_mahalanobis": 0.5} { // the same samples everywhere
		if v, known := r.Measures.Get(name); !known || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, known, want)
		}
	}
	if paths := Paths(Request{Files: []string{dataset}}); len(paths) != 2 || filepath.Base(paths[1]) != "data-00001-of-00002.arrow" {
		t.Errorf("files of a dataset: %q", paths)
	}
}

// TestFoldersThatAreNotRead: what a folder holds is said, and how to name it.
func TestFoldersThatAreNotRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mixed/b10.npz", "mixed/b9.npz", "mixed/notes", "images/cat/1.png", "images/dog/1.png", "images/eel/1.png", "images/fox/1.png", "images/gnu/1.png", "splits/dataset_dict.json",
		"split/dataset_info.json", "capture/tap.json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{
		"mixed":   "it holds b9.npz, b10.npz, notes: name files of it, such as '" + filepath.Join(dir, "mixed", "*.npz") + "'",
		"images":  "it holds cat, dog, eel, fox and 1 more, none of which is read",
		"empty":   "it holds no file",
		"splits":  "name one of its folders, such as " + filepath.Join(dir, "splits", "train"),
		"split":   "no .arrow file",
		"capture": "name shards of it for this role, such as '" + filepath.Join(dir, "capture", "features", "*.npy") + "'",
	} {
		path := filepath.Join(dir, folder)
		if _, err := Open(Request{Files: []string{path}}); folder != "capture" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", folder, err, want)
		}
		if _, err := Open(Request{Files: []string{"testdata/origins/x.npz"}, From: [roleCount][]string{OOD: {path}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--ood %s: %v, want %q", folder, err, want)
		}
	}
}

// TestLayersInFilesOfTheirOwn: each .npy is a layer that is called as its file is; features with a name of their own come last.
func TestLayersInFilesOfTheirOwn(t *testing.T) {
	x, err := arrayfile.Open("testdata/origins/x.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	arrays := map[string]arrayfile.Array{}
	for name, of := range map[string]string{"conv2": "features", "conv10": "features", "features": "features", "labels": "labels"} {
		a, err := x.Load(of)
		if err != nil {
			t.Fatal(err)
		}
		arrays[name+".npy"] = a
	}
	dir := files(t, arrays)
	at := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(dir, name))
		}
		return all
	}
	for request, c := range map[string]struct {
		req  Request
		want string
	}{
		"all":              {Request{Files: at("*.npy"), Layers: "*"}, "conv2 conv10 features"},
		"some":             {Request{Files: at("*.npy"), Layers: "conv*"}, "conv2 conv10 features"},
		"no features":      {Request{Files: at("conv*.npy", "labels.npy"), Layers: "*"}, "conv2 conv10"},
		"labels by a flag": {Request{Files: at("conv*.npy"), From: [roleCount][]string{Labels: at("labels.npy")}, Layers: "conv1*"}, "conv10"},
		"one file":         {Request{Files: at("conv2.npy"), From: [roleCount][]string{Labels: at("labels.npy")}, Layers: "*"}, "features"},
	} {
		set, err := Open(c.req)
		if err != nil {
			t.Errorf("%s: %v", request, err)
			continue
		}
		var names []string
		for i, column := range set.Columns {
			names = append(names, column.Name)
			r, err := set.Measure(i, measure.Options{})
			if v, _ := r.Measures.Get("nc1_pinv"); err != nil || v < sixty*(1-1e-12) || v > sixty*(1+1e-12) {
				t.Errorf("%s: NC1 of %s is %v, %v", request, column.Name, v, err)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: layers %q, want %q", request, got, c.want)
		}
		set.Close()
	}
}
