package judge

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"collapse.example/collapse/internal/store"
)

// counted counts what is read of a lab, and can fail.
type counted struct {
	*store.Lab
	picked []string
	whole  int
	fails  error
}

func (c *counted) PickEach(hashes, measures []string) ([][]store.Value, error) {
	c.picked = append(c.picked, measures...)
	if c.fails != nil {
		return nil, c.fails
	}
	return c.Lab.PickEach(hashes, measures)
}

func (c *counted) Values(hash string) ([]store.Value, error) {
	c.whole++
	return c.Lab.Values(hash)
}

// TestLoadOnDemand compares runs whose measures are read when asked for with runs that were read at once.
func TestLoadOnDemand(t *testing.T) {
	l, hash := lab(t)
	at, err := Load(l, hash)
	if err != nil {
		t.Fatal(err)
	}
	of := &counted{Lab: l}
	later, err := LoadOnDemand(of, hash[:8])
	if err != nil {
		t.Fatal(err)
	}
	got, want := later[0], at[0]
	if got.Hash != want.Hash || got.LastStep() != want.LastStep() || got.Spent != want.Spent || !reflect.DeepEqual(got.Settings, want.Settings) || got.Features() == nil {
		t.Errorf("%+v, want %+v", got, want)
	}
	for range 2 {
		if rows := got.Rows("train", "", "nc1_pinv"); len(rows) != 2 || !slices.Equal(rows, want.Rows("train", "", "nc1_pinv")) {
			t.Errorf("NC1: %v", rows)
		}
		if rows := got.Rows("test", "", "nobody"); rows != nil {
			t.Errorf("an unknown measure: %v", rows)
		}
	}
	if !slices.Equal(of.picked, []string{"nc1_pinv", "nobody"}) || of.whole != 0 {
		t.Errorf("read %q and %d runs as a whole; wanted each measure once", of.picked, of.whole)
	}
	copied := got
	if keys := copied.Keys(); len(keys) != len(want.Keys()) || of.whole != 1 {
		t.Errorf("%d series, wanted %d", len(keys), len(want.Keys()))
	}
	if !reflect.DeepEqual(got.series, want.series) || got.Points() != want.Points() || of.whole != 1 {
		t.Errorf("%v, want %v", got.series, want.series)
	}
	if err := ReadError(later); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfLaterReadingAreKept(t *testing.T) {
	l, hash := lab(t)
	of := &counted{Lab: l}
	runs, err := LoadOnDemand(of, hash)
	if err != nil {
		t.Fatal(err)
	}
	of.fails = errors.New("the disk is gone")
	if rows := runs[0].Rows("train", "", "nc1_pinv"); rows != nil || !errors.Is(ReadError(runs), of.fails) {
		t.Errorf("%v, %v", rows, ReadError(runs))
	}
	if _, err := LoadOnDemand(of, "nobody"); err == nil {
		t.Error("a run that is not there has no error")
	}
}
