package trials

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
)

// UnreportedError says that the runs of a search never report its metric.
type UnreportedError struct {
	Study, Metric, Run string
	Reported           []string // what the run reports, as split/measure
}

func (e *UnreportedError) Error() string {
	return fmt.Sprintf("study %s: run %.12s has ended and reported no %s, the metric of [search], so that no trial is better than another; it reported %s. Name one of these in the file, and start it again: what is computed stays%s",
		e.Study, e.Run, e.Metric, format.Few(e.Reported, 12), spelling.Suggestion(e.Metric, e.Reported))
}

// nameMetric has the line of a finished trial begin with what the search looks at.
func (r *rounds) nameMetric(ended *coordinator.Ended) {
	t := study.TrialOf(ended.Payload)
	v, err := lastOf(r.lab.Reader, ended.Hash, r.f.Search.Keys(), t.Epochs)
	name := r.f.Search.MetricName()
	if err != nil || t.Role != study.RoleTrial || strings.HasPrefix(ended.Text, name) {
		return
	}
	words := name + " " + format.Short(v, 4)
	if math.IsNaN(v) {
		words = name + ": none"
	}
	parts := slices.DeleteFunc(strings.Split(ended.Text, ", "), func(part string) bool {
		if math.IsNaN(v) && strings.HasPrefix(part, name+": ") {
			words = part // with the reason
		}
		return part == "" || strings.HasPrefix(part, name+" ") || strings.HasPrefix(part, name+":")
	})
	ended.Text = strings.Join(append([]string{words}, parts...), ", ")
}

// unreported returns an *UnreportedError if a finished run has not one value of the search's metric.
func unreported(lab *store.Reader, f *study.File, hash string) error {
	keys, err := lab.Keys(hash)
	if err != nil || len(keys) == 0 || slices.ContainsFunc(f.Search.Keys(), func(k store.Key) bool { return slices.Contains(keys, k) }) {
		return err
	}
	return &UnreportedError{Study: f.Name, Metric: f.Search.MetricName(), Run: hash, Reported: names(keys)}
}

// names are the values of epochs, as split/measure, those that a script reports under names of its own first.
func names(keys []store.Key) (out []string) {
	var own []judge.SeriesKey
	for _, k := range keys {
		if k.Series == "epoch" && k.Layer == "" {
			own = append(own, judge.SeriesKey{Split: k.Split, Measure: k.Measure})
		}
	}
	judge.SortOwn(own)
	for _, k := range own {
		out = append(out, judge.NameOf(k))
	}
	return out
}

// lastOf returns a value of a run at its last epoch, NaN if there is none.
func lastOf(lab *store.Reader, hash string, keys []store.Key, epochs int) (float64, error) {
	v, _, err := lastOrWhy(lab, hash, keys, epochs)
	return v, err
}

// lastOrWhy is lastOf with what stands in place of a missing value: NaN, ∞, or that there is none.
func lastOrWhy(lab *store.Reader, hash string, keys []store.Key, epochs int) (v float64, why string, err error) {
	points, err := firstOf(lab, hash, keys)
	if err != nil {
		return 0, "", err
	}
	n := len(points)
	if n == 0 || points[n-1].Step != int64(epochs) {
		return math.NaN(), "no value", nil
	}
	if last := points[n-1]; last.Missing == "" {
		return last.Value, "", nil
	}
	return math.NaN(), points[n-1].Lack(), nil
}

// firstOf returns what a run has of the first of keys of which it has anything.
func firstOf(lab *store.Reader, hash string, keys []store.Key) (points []store.Point, err error) {
	for i := 0; i < len(keys) && len(points) == 0 && err == nil; i++ {
		points, err = lab.Series(hash, keys[i])
	}
	return points, err
}
