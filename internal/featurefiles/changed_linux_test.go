package featurefiles

import (
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/reporttest"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

// bigSet writes features of several pages and their labels into files of their own.
func bigSet(t *testing.T) (h, y string, req Request) {
	t.Helper()
	const n, d, k = 4000, 33, 5
	values, labels := make([]float32, n*d), make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % k)
		for j := range d {
			values[i*d+j] = float32(i%k*j%7) + float32(i*j%101)/101
		}
	}
	dir := t.TempDir()
	h, y = filepath.Join(dir, "h.npy"), filepath.Join(dir, "y.npy")
	save(t, h, arrayfile.Of("", []int{n, d}, values))
	save(t, y, arrayfile.Of("", []int{n}, labels))
	req.From[Features], req.From[Labels] = []string{h}, []string{y}
	return h, y, req
}

func save(t *testing.T, path string, a arrayfile.Array) {
	t.Helper()
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(arrayfile.WriteNPY(w, a), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// changes are what another program may do to a file that is open here.
func changes(t *testing.T) map[string]func(path string) {
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func(path string){
		"cut inside its last page": func(path string) { must(os.Truncate(path, size(path)-8)) },
		"cut to one page":          func(path string) { must(os.Truncate(path, 4096)) },
		"cut to nothing":           func(path string) { must(os.Truncate(path, 0)) },
		"written to": func(path string) {
			w, err := os.OpenFile(path, os.O_WRONLY, 0)
			must(err)
			_, err = w.WriteAt(make([]byte, 64), size(path)-64)
			must(errors.Join(err, w.Close(), os.Chtimes(path, time.Time{}, time.Now().Add(time.Second))))
		},
	}
}

// Whatever reads a set of files that have changed since they were opened says so, and names the file.
func TestFilesThatChange(t *testing.T) {
	longtest.Only(t)
	team := parallel.NewTeam(2)
	defer team.Close()
	opt := measure.Options{Team: team, Uncertainty: true, Null: 3}
	reads := map[string]func(s *Set) error{
		"measure":  func(s *Set) error { _, err := s.Measure(0, opt); return err },
		"one pass": func(s *Set) error { _, err := s.OnePass(0, opt); return err },
		"sample": func(s *Set) error {
			_, _, err := s.Sample(0, &measure.Report{K: s.K}, 100, 5)
			return err
		},
	}
	for change, do := range changes(t) {
		for read, f := range reads {
			for _, labels := range []bool{false, true} {
				h, y, req := bigSet(t)
				s, err := Open(req)
				if err != nil {
					t.Fatal(err)
				}
				path := h
				if labels {
					path = y
				}
				do(path)
				err = f(s)
				var changed *arrayfile.ChangedError
				if !errors.As(err, &changed) || changed.Path != path || !strings.Contains(err.Error(), path) {
					t.Errorf("%s of a file %s (labels %v): %v", read, change, labels, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestSecondPassOfAFileThatChanges(t *testing.T) {
	h, _, req := bigSet(t)
	s, err := Open(req)
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.OnePass(0, measure.Options{})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	req.Means = one.Moments
	if s, err = Open(req); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Truncate(h, 8192); err != nil {
		t.Fatal(err)
	}
	_, err = s.SecondPass(0, req.Means, measure.Options{})
	var changed *arrayfile.ChangedError
	if !errors.As(err, &changed) || changed.Path != h {
		t.Errorf("error %v", err)
	}
}

// The engine's team is of use after a fault in one of its threads.
func TestTeamOutlivesFaults(t *testing.T) {
	team := parallel.NewTeam(2)
	defer team.Close()
	measured := func(cut bool) (*measure.Report, error) {
		h, _, req := bigSet(t)
		s, err := Open(req)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if cut {
			if err := os.Truncate(h, 4096); err != nil {
				t.Fatal(err)
			}
		}
		return s.Measure(0, measure.Options{Team: team})
	}
	want, err := measured(false)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := measured(true); err == nil {
			t.Fatal("a cut file was measured")
		}
	}
	again, err := measured(false)
	if err != nil || reporttest.Of(again.Measures, measure.KeyNC1Pinv) != reporttest.Of(want.Measures, measure.KeyNC1Pinv) || !(reporttest.Of(want.Measures, measure.KeyNC1Pinv) > 0) {
		t.Errorf("measured %v after faults, %v before: %v", reporttest.Of(again.Measures, measure.KeyNC1Pinv), reporttest.Of(want.Measures, measure.KeyNC1Pinv), err)
	}
}
