package featurefiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// TestStatesOfShards merges first passes in several orders and second passes beside them: what one
// measurement of all samples gives, to 1e-12 of it.
func TestStatesOfShards(t *testing.T) {
	for _, classifier := range []string{"", " weights=w.npy bias=b.npy"} {
		p := problems()[0]
		dir, _ := shardFiles(t, p, 3, 4, 11)
		whole := measured(t, asked(dir, "features=h-*.npy labels=y-*.npy"+classifier), measure.Options{})
		state := func(name string, s io.WriterTo) {
			f, err := os.Create(filepath.Join(dir, name))
			if err == nil {
				_, err = s.WriteTo(f)
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		open := func(i int, m *measure.Moments) *Set {
			req := asked(dir, fmt.Sprintf("features=h-%d.npy labels=y-%d.npy", i, i)+classifier)
			req.Means = m
			set, err := Open(req)
			if err != nil {
				t.Fatal(err)
			}
			return set
		}
		for i := range 4 {
			set := open(i, nil)
			one, err := set.OnePass(0, measure.Options{})
			if err != nil {
				t.Fatal(err)
			}
			state(fmt.Sprintf("first-%d.ncs", i), one.Moments)
			set.Close()
		}
		merge := func(request string, m *measure.Moments) *OnePass {
			req := asked(dir, request+classifier)
			req.Means = m
			one, err := Merge(req)
			if err != nil {
				t.Fatalf("%s: %v", request, err)
			}
			return one
		}
		backwards := merge("file=first-3.ncs file=first-1.ncs file=first-0.ncs file=first-2.ncs", nil)
		merged := merge("file=first-*.ncs", nil)
		for name, one := range map[string]*OnePass{"in order": merged, "in another order": backwards} {
			r, err := one.Report(measure.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := maps.Collect(whole.Measures.All())
			for key := range r.Missing {
				delete(want, key)
			}
			near(t, "first passes "+name+classifier, r, want, 1e-12, 1e-14)
			if _, ok := want["nc1_pinv"]; !ok || len(want) < 15 {
				t.Errorf("first passes give only %d measures", len(want))
			}
		}
		for i := range 4 {
			set := open(i, merged.Moments)
			second, err := set.SecondPass(0, merged.Moments, measure.Options{})
			if err != nil {
				t.Fatal(err)
			}
			state(fmt.Sprintf("second-%d.ncs", i), second)
			set.Close()
		}
		r, err := merge("file=second-*.ncs", merged.Moments).Report(measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := maps.Collect(whole.Measures.All())
		for _, key := range []string{"numerical_rank", "vci", "feature_rank", "feature_stable_rank"} { // need samples together
			if r.Missing[key] == "" {
				t.Errorf("second passes: no reason for %s", key)
			}
			delete(want, key)
		}
		near(t, "second passes"+classifier, r, want, 1e-12, 1e-14)
	}
}

func TestStatesThatDoNotBelongTogether(t *testing.T) {
	p := problems()[0]
	dir, _ := shardFiles(t, p, 8)
	set, err := Open(asked(dir, "features=h-0.npy labels=y-0.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	one, err := set.OnePass(0, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "a.ncs"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Moments.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.ncs"), []byte("NCS1"), 0o644); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]string{
		"file=gone.ncs": "no file is called", "": "no state file", "file=bad.ncs": "bad.ncs", "file=a.ncs weights=b.npy": "b.npy",
	} {
		if _, err := Merge(asked(dir, request)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", request, err, want)
		}
	}
	write := func(name string, s io.WriterTo) {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			_, err = s.WriteTo(f)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	second, err := set.SecondPass(0, one.Moments, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write("second.ncs", second)
	fixed, err := Open(asked(dir, fmt.Sprintf("features=h-0.npy labels=y-0.npy classes=%d", p.k)))
	if err != nil {
		t.Fatal(err)
	}
	defer fixed.Close()
	whole, err := fixed.OnePass(0, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write("fixed.ncs", whole.Moments)
	save := func(name string, a arrayfile.Array) {
		var b bytes.Buffer
		if err := errors.Join(arrayfile.WriteNPY(&b, a), os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	save("more.npy", arrayfile.Of("", []int{p.k + 1, p.d}, make([]float64, (p.k+1)*p.d)))
	save("far.npy", arrayfile.Of("", []int{1, p.d}, make([]float64, p.d)))
	save("label.npy", arrayfile.Of("", []int{1}, []int64{77}))
	for request, want := range map[string]string{
		"file=second.ncs":                                "second.ncs: a second pass; give the merged first passes it was made with: --means FILE",
		"file=fixed.ncs weights=more.npy":                fmt.Sprintf("more.npy: a classifier of %d classes, and the samples have %d", p.k+1, p.k),
		"file=a.ncs ignore-label=x":                      "--ignore-label x",
		"file=fixed.ncs file=second.ncs":                 "a second pass",
		"file=fixed.ncs weights=more.npy ignore-label=x": "x",
	} {
		if _, err := Merge(asked(dir, request)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", request, err, want)
		}
	}
	if _, err := ReadMoments(filepath.Join(dir, "second.ncs"), nil, arrayfile.NewFileBudget()); err == nil || !strings.Contains(err.Error(), "second.ncs holds a second pass; want the merged first passes") {
		t.Errorf("a second pass as --means: %v", err)
	}
	if _, err := ReadMoments(filepath.Join(dir, "a.ncs"), []string{"x"}, arrayfile.NewFileBudget()); err == nil || !strings.Contains(err.Error(), "--ignore-label x") {
		t.Errorf("a label that is none: %v", err)
	}
	var full *arrayfile.BudgetError
	small := asked(dir, "file=a.ncs")
	small.Budget = arrayfile.NewBudget(1)
	if _, err := Merge(small); !errors.As(err, &full) || !strings.Contains(err.Error(), "a.ncs") {
		t.Errorf("without memory: %v", err)
	}
	refused := map[string]bool{} // with too little memory
	for room, err := int64(1), error(nil); room == 1 || err != nil; room += room/8 + 1 {
		small.Budget = arrayfile.NewBudget(room)
		if _, err = Merge(small); err == nil {
			break
		}
		if where, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), dir+string(filepath.Separator)), ":"); errors.As(err, &full) {
			refused[where] = true
		} else {
			t.Fatalf("with %d bytes: %v", room, err)
		}
	}
	if len(refused) != 1 || !refused["a.ncs"] {
		t.Errorf("without memory there is none for %v", refused)
	}
	for request, want := range map[string]string{
		"features=far.npy labels=label.npy":                  "label.npy: labels: sample 0 has label 77, which the state of --means does not have",
		"features=far.npy labels=label.npy weights=more.npy": "label.npy: labels: sample 0 has label 77",
		"features=far.npy labels=label.npy ignore-label=77":  "",
	} {
		unknown := asked(dir, request)
		unknown.Means = one.Moments
		set, err := Open(unknown)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", request, err, want)
		}
		if err == nil {
			set.Close()
		}
	}
	other := asked(dir, "features=h-0.npy labels=y-0.npy weights=more.npy")
	other.Means = whole.Moments
	if _, err := Open(other); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more.npy: a classifier of %d classes, and the samples have %d", p.k+1, p.k)) {
		t.Errorf("a classifier of other classes than --means: %v", err)
	}
	req := asked(dir, "file=a.ncs")
	req.Means = one.Moments
	if _, err := Merge(req); err == nil || !strings.Contains(err.Error(), "a first pass") {
		t.Errorf("a first pass beside --means: %v", err)
	}
}
