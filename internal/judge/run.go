package judge

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"sync"

	"collapse.example/collapse/internal/store"
)

// Run is one saved run, ready to be drawn.
type Run struct {
	store.Run
	Settings map[string]string // every configuration key, "loss.kind", with defaults filled in
	Loss     string            // loss.kind
	Noise    float64           // data.noise, η
	Seed     uint64            // run.seed
	Every    int64             // above 1: of its values, those of one in so many epochs were read, and of the newest

	kept   *kept
	series map[SeriesKey][]store.Point
	source *source // reads what series lacks; nil: it lacks nothing
	last   int64
	Spent  float64 // core-seconds of its epochs, of a script the seconds; 0: not recorded
}

// kept is what a run saved of its last epoch, read on first use.
type kept struct {
	dir      string
	once     sync.Once
	features *Features
	why      string // why features is nil
}

// Features are the features of the run's last epoch, read from its folder on the first call; nil if it saved none that can
// be used.
func (r *Run) Features() *Features {
	f, _ := r.features()
	return f
}

// NoFeatures says why Features is nil.
func (r *Run) NoFeatures() string {
	_, why := r.features()
	return why
}

func (r *Run) features() (*Features, string) {
	if r.kept == nil {
		return nil, "the run saved no features"
	}
	r.kept.once.Do(func() {
		if r.kept.dir == "" {
			return
		}
		f, err := LoadFeatures(r.kept.dir)
		if err != nil {
			r.kept.why = err.Error()
			return
		}
		r.kept.features = f
	})
	return r.kept.features, r.kept.why
}

// Folder is where the run's features are; "" if they are in no file.
func (r *Run) Folder() string {
	if r.kept == nil {
		return ""
	}
	return r.kept.dir
}

// FeaturesIn sets the folder of the run's features, which are read on first use. Earlier copies of the run keep what they have.
func (r *Run) FeaturesIn(dir string) { r.kept = &kept{dir: dir} }

// SetFeatures gives the run features that are not in a file, or the reason why it has none.
func (r *Run) SetFeatures(f *Features, why string) { r.kept = &kept{features: f, why: why} }

type SeriesKey struct{ Split, Layer, Measure string }

// Features are the last layer's activations that a run saved at its last epoch. N, d and K agree
// among the fields: load.go checks the file before it makes one.
type Features struct {
	D, K           int
	TrainH, TestH  []float64 // N×d, row-major
	Observed, True []int     // training labels, as trained on and before the noise
	Redrawn        []bool    // training samples whose label was redrawn, possibly to the same class
	TestTrue       []int
	Weight         []float64 // K×d; nil if not saved
	Bias           []float64 // K; nil: no bias
	TrainN, TestN  int       // samples that the run had; TrainH and TestH may hold only the first of them
}

// LabReader is the part of a store.Reader that loading needs.
type LabReader interface {
	Find(prefix string) (store.Run, error)
	Values(hash string) ([]store.Value, error)
	PickEach(hashes, measures []string) ([][]store.Value, error)
	SumEach(hashes []string, key store.Key) ([]float64, error)
	RunDir(hash string) string
}

// Rows returns the rows of a measure in a layer ("" is the last one) by epoch, including those without a value.
func (r *Run) Rows(split, layer, measure string) []store.Point {
	key := SeriesKey{split, layer, measure}
	if r.source != nil {
		return r.source.points(r.series, key)
	}
	return r.series[key]
}

// Named returns the rows of a value by epoch: of what a script has reported under this very name, or of a split's measure in a layer.
func (r *Run) Named(name string) []store.Point {
	if points := r.Rows("", "", name); len(points) > 0 {
		return points
	}
	return r.Rows(SplitName(name))
}

// all is every series of the run.
func (r *Run) all() map[SeriesKey][]store.Point {
	if r.source != nil {
		r.source.readAll()
	}
	return r.series
}

// Keys lists the series in which the run has rows, in no order.
func (r *Run) Keys() []SeriesKey { return slices.Collect(maps.Keys(r.all())) }

// Grown is r with its new row and the values of later epochs. r itself does not change, but cannot grow a second time: both share
// memory, so growing costs only what is new.
func (r *Run) Grown(row store.Run, values []store.Value) Run {
	out := *r
	out.Run = row
	out.series, out.source = maps.Clone(r.all()), nil
	out.addValues(values)
	return out
}

// After is r without the points up to an epoch.
func (r *Run) After(epoch int64) Run {
	out := *r
	out.series, out.source = map[SeriesKey][]store.Point{}, nil
	for k, points := range r.all() {
		from := sort.Search(len(points), func(i int) bool { return points[i].Step > epoch })
		if from < len(points) {
			out.series[k] = points[from:]
		}
	}
	return out
}

// Points is how many values r holds.
func (r *Run) Points() int {
	n := 0
	for _, points := range r.all() {
		n += len(points)
	}
	return n
}

// Series returns a measure by epoch, without the epochs that have no value.
func (r *Run) Series(split, measure string) []store.Point {
	all := r.Rows(split, "", measure)
	out := make([]store.Point, 0, len(all))
	for _, p := range all {
		if p.Missing == "" {
			out = append(out, p)
		}
	}
	return out
}

// Final returns the value of the last epoch at which the run was measured. If there is none, ok is
// false and reason says why: an older value is never passed off as the last.
func (r *Run) Final(split, measure string) (v float64, ok bool, reason string) {
	last := r.LastStep()
	reason = "never measured"
	for _, p := range r.Rows(split, "", measure) {
		switch {
		case p.Step != last:
			if reason == "never measured" {
				reason = "not measured at the last epoch"
			}
		case p.Missing == "":
			return p.Value, true, ""
		default:
			reason = p.Missing
		}
	}
	return 0, false, reason
}

// Newest returns the newest row of a measure, which may be some epochs old if the run is measured every few epochs. ok is false
// if that row has no value: an older one is never passed off as the newest.
func (r *Run) Newest(split, measure string) (p store.Point, ok bool) {
	for _, q := range r.Rows(split, "", measure) {
		if q.Step != p.Step || q.Missing == "" {
			p, ok = q, q.Missing == ""
		}
	}
	return p, ok
}

// LastStep is the last epoch with any row; 0 if there is none.
func (r *Run) LastStep() int64 { return r.last }

// Beginning is the same for runs that differ only in run.epochs. A configuration that is not JSON equals no other.
func (r *Run) Beginning() string {
	tree := map[string]any{}
	if json.Unmarshal(r.Config, &tree) != nil {
		return r.Hash
	}
	if run, ok := tree["run"].(map[string]any); ok {
		delete(run, "epochs")
		if len(run) == 0 {
			delete(tree, "run")
		}
	}
	text, err := json.Marshal(tree)
	if err != nil {
		panic("judge: what JSON gave cannot be written as JSON")
	}
	return string(text)
}
