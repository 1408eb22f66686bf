package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Load reads runs by hash or unique prefix, each with its values, its configuration with defaults filled in and, if saved,
// the features of its last epoch. It reads one run per processor at a time.
//
// Missing or unreadable features are not an error: NoFeatures, and the run's page, say why.
func Load(lab LabReader, prefixes ...string) ([]Run, error) {
	out, errs := make([]Run, len(prefixes)), make([]error, len(prefixes))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(len(prefixes), runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(prefixes)); i = next.Add(1) - 1 {
				out[i], errs[i] = load(lab, prefixes[i])
			}
		})
	}
	readers.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return out, nil
}

func find(lab LabReader, prefix string) (store.Run, error) {
	found, err := lab.Find(prefix)
	if err != nil {
		return store.Run{}, fmt.Errorf("judge: run %q: %w", prefix, err)
	}
	return found, nil
}

func load(lab LabReader, prefix string) (Run, error) {
	found, err := find(lab, prefix)
	if err != nil {
		return Run{}, err
	}
	values, err := lab.Values(found.Hash)
	if err != nil {
		return Run{}, fmt.Errorf("judge: values of run %.12s: %w", found.Hash, err)
	}
	r, err := NewRun(found, values)
	if err != nil {
		return Run{}, err
	}
	r.FeaturesIn(lab.RunDir(found.Hash))
	r.Features() // while other runs are read
	return r, nil
}

// NewRun makes a run from its row and all or some of its values. It has no features.
func NewRun(row store.Run, values []store.Value) (Run, error) {
	r := Run{Run: row}
	if err := r.configure(); err != nil {
		return Run{}, err
	}
	r.setValues(values)
	return r, nil
}

// usualSettings are the defaults that a canonical configuration leaves out.
var usualSettings = sync.OnceValue(func() map[string]string {
	usual := map[string]string{}
	addTexts(usual, train.DefaultSettings())
	return usual
})

// configure fills Settings and the fields that runs are grouped by.
func (r *Run) configure() error {
	given := map[string]any{}
	if len(r.Config) > 0 {
		if err := json.Unmarshal(r.Config, &given); err != nil {
			return fmt.Errorf("judge: configuration of run %.12s is not a JSON object: %w", r.Hash, err)
		}
	}
	flat := train.Flat(given)
	r.Settings = r.defaults(flat)
	addTexts(r.Settings, flat)
	r.Loss = r.Settings["loss.kind"]
	for _, f := range []struct {
		key string
		set func(string) error
	}{
		{"data.noise", func(s string) (err error) { r.Noise, err = strconv.ParseFloat(s, 64); return }},
		{"run.seed", func(s string) (err error) { r.Seed, err = strconv.ParseUint(s, 10, 64); return }},
	} {
		if s, ok := r.Settings[f.key]; ok {
			if err := f.set(s); err != nil {
				return fmt.Errorf("judge: run %.12s: %s = %q is not a number: %w", r.Hash, f.key, s, err)
			}
		}
	}
	return nil
}

// defaults are the settings that have an effect beside those given, at their default. The caller owns the map.
func (r *Run) defaults(given map[string]any) map[string]string {
	if r.Kind != store.Train {
		return map[string]string{}
	}
	seedless := maps.Clone(given) // which settings have an effect does not depend on the seed, nor on the samples
	maps.DeleteFunc(seedless, func(k string, _ any) bool { return k == "run.seed" || strings.HasSuffix(k, "_digest") })
	key, err := json.Marshal(seedless)
	if err != nil {
		panic("judge: what was read as JSON cannot be written")
	}
	return maps.Clone(usualOf.get(string(key), func() map[string]string {
		settings := maps.Clone(usualSettings())
		for _, k := range r.silent() {
			delete(settings, k)
		}
		return settings
	}))
}

// usualOf are the defaults of the configurations read last.
var usualOf = defaults{known: map[string]map[string]string{}}

// mostDefaults bounds how many configurations have their defaults kept, longestDefaults the text of one.
const (
	mostDefaults    = 256
	longestDefaults = 4 << 10
)

type defaults struct {
	mu    sync.Mutex
	known map[string]map[string]string
}

func (d *defaults) get(key string, make func() map[string]string) map[string]string {
	d.mu.Lock()
	settings, ok := d.known[key]
	d.mu.Unlock()
	if ok {
		return settings
	}
	settings = make()
	if len(key) <= longestDefaults {
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.known) >= mostDefaults {
			clear(d.known)
		}
		d.known[key] = settings
	}
	return settings
}

// silent lists the settings that would be a guess: those that no configuration holds, and those without effect in this one. If
// another version of the program wrote a configuration that this one cannot read, only the former are known.
func (r *Run) silent() []string {
	cfg, err := train.FromCanonical(r.Config)
	if err != nil {
		cfg = train.Default()
	}
	return train.Silent(cfg)
}

// addTexts adds settings, as text for people.
func addTexts(texts map[string]string, settings map[string]any) {
	for k, v := range settings {
		if x, ok := v.(float64); ok {
			texts[k] = strconv.FormatFloat(x, 'f', -1, 64)
		} else {
			texts[k] = format.Setting(v)
		}
	}
}

// setValues sorts the values of the "epoch" series, and what the run cost. If a key and step occur twice, a number wins
// over a reason for a missing one.
func (r *Run) setValues(values []store.Value) {
	r.series, r.last, r.Spent = map[SeriesKey][]store.Point{}, 0, 0
	r.addValues(values)
	sortSteps(r.series)
}

func sortSteps(series map[SeriesKey][]store.Point) {
	for _, pts := range series {
		if !slices.IsSortedFunc(pts, bySteps) {
			slices.SortStableFunc(pts, bySteps)
		}
	}
}

func bySteps(a, b store.Point) int { return cmp.Compare(a.Step, b.Step) }

func (r *Run) addValues(values []store.Value) {
	for _, v := range values {
		if v.Key == train.SpentKey || v.Key == script.ReportKey {
			r.Spent += v.Value
		}
		if v.Series != "epoch" {
			continue
		}
		k := SeriesKey{v.Split, v.Layer, v.Measure}
		r.last = max(r.last, v.Step)
		r.series[k] = append(r.series[k], store.Point{Step: v.Step, Value: v.Value, Missing: v.Missing})
	}
}
