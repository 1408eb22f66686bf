package script

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// Splits of captures.
const (
	trainSplit = "train"
	testSplit  = "test"
	oodSplit   = "ood"
)

// captures are the folders, or files, with an epoch's features by split, inside the workspace.
type captures map[string]string

// captures checks that the features of an event are in the workspace and exist. Anything elsewhere is not the lab's to remove.
func (w *workspace) captures(features map[string]string) (captures, error) {
	c := captures{}
	for split, named := range features {
		rel := named
		if filepath.IsAbs(named) {
			var err error
			if rel, err = filepath.Rel(w.dir, filepath.Clean(named)); err != nil {
				rel = ".."
			}
		}
		if rel = filepath.Clean(rel); rel == "." || !filepath.IsLocal(rel) || !strings.HasPrefix(rel, capturesDir+string(filepath.Separator)) {
			return nil, fmt.Errorf("features: %s is %q; wanted a folder below %s", split, cut(named), w.path(capturesDir))
		}
		real, err := filepath.EvalSymlinks(w.path(rel))
		if err != nil {
			return nil, fmt.Errorf("features: %s: %w; wanted a capture that is whole before it is reported", split, err)
		}
		if inside, err := filepath.Rel(w.real, real); err != nil || inside != rel { // it would be removed at the target of the link
			return nil, fmt.Errorf("features: %s: %q is reached by a link; wanted a folder below %s", split, cut(named), w.path(capturesDir))
		}
		c[split] = rel
	}
	if len(c) > 0 && c[trainSplit] == "" && c[testSplit] == "" {
		return nil, fmt.Errorf("features: out-of-distribution samples are measured against train samples, and there is no %s", trainSplit)
	}
	return c, nil
}

// drop removes captures that have been measured.
func (w *workspace) drop(c captures) error {
	for _, rel := range c {
		if err := os.RemoveAll(w.path(rel)); err != nil {
			return fmt.Errorf("script: removing a capture: %w", err)
		}
	}
	return nil
}

// values are the numbers of an epoch by key.
type values map[store.Key]store.Value

// put stores a number, replacing what the key had.
func (v values) put(split, layer, name string, x float64, missing string) {
	key := store.Key{Series: series, Split: split, Layer: layer, Measure: name}
	v[key] = store.Value{Key: key, Value: x, Missing: missing}
}

// reported stores numbers named split/measure, or just measure.
func (v values) reported(numbers map[string]number) {
	for name, x := range numbers {
		split, key, has := strings.Cut(name, "/")
		if !has {
			split, key = "", name
		}
		why := ""
		if x.none {
			why = "the script reported no number (null)"
		}
		v.put(split, "", key, x.x, why)
	}
}

// measure measures the captures of an epoch, which are below root: train samples, together with the test samples for measures that need
// both, the captured layers, and the test samples on their own.
func (c captures) measure(root string, opt measure.Options, into values) error {
	m := measurer{opt, into}
	at := func(split string) string { return filepath.Join(root, c[split]) }
	if c[trainSplit] != "" {
		folder := at(trainSplit)
		combined := featurefiles.Request{Files: []string{folder}}
		if c[testSplit] != "" && isCapture(folder) && isCapture(at(testSplit)) {
			combined.From[featurefiles.TestFeatures] = []string{shards(at(testSplit), "features")}
			combined.From[featurefiles.TestLabels] = []string{shards(at(testSplit), "labels")}
		}
		if c[oodSplit] != "" {
			combined.From[featurefiles.OOD] = []string{shards(at(oodSplit), "features")}
		}
		if err := m.split(trainSplit, folder, combined); err != nil {
			return err
		}
	}
	if c[testSplit] == "" {
		return nil
	}
	folder := at(testSplit)
	return m.split(testSplit, folder, featurefiles.Request{Files: []string{folder}})
}

// isCapture reports whether a capture has features, rather than only layers.
func isCapture(folder string) bool { return there(folder, "features") }

func there(folder, stream string) bool {
	info, err := os.Stat(filepath.Join(folder, stream))
	return err == nil && info.IsDir()
}

// shards is the pattern of a stream's files. Pattern characters in the folder's own name are escaped.
func shards(folder, stream string) string {
	literal := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(folder)
	return filepath.Join(literal, stream, "*.npy")
}

// measurer measures captures into values.
type measurer struct {
	options measure.Options
	into    values
}

// split measures the features of one split as req says, and then its layers.
func (m measurer) split(split, folder string, req featurefiles.Request) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	layers := info.IsDir() && there(folder, "layers")
	if isCapture(folder) || !layers { // if it has neither, opening it reports that
		if err := m.columns(split, req); err != nil {
			return err
		}
	}
	if layers {
		return m.columns(split, featurefiles.Request{Files: []string{folder}, Layers: "*"})
	}
	return nil
}

// columns measures what a request names: only the features, or all layers except them.
func (m measurer) columns(split string, req featurefiles.Request) (err error) {
	req.Context = m.options.Context
	set, err := featurefiles.Open(req)
	if err != nil {
		return err
	}
	defer set.Close()
	for i, column := range set.Columns {
		layer := ""
		if req.Layers != "" {
			if column.Classifier {
				continue // measured together with the test samples
			}
			layer = column.Name
		}
		report, err := set.Measure(i, m.options)
		if err != nil {
			return err
		}
		m.file(split, layer, report)
	}
	return nil
}

// file stores a report in the values. Measures of both splits are filed under test, as for training runs.
func (m measurer) file(split, layer string, r *measure.Report) {
	at := func(key string) (string, string) {
		switch key {
		case measure.KeyDilation:
			return testSplit, key
		case measure.KeyTestAccuracy:
			return testSplit, measure.KeyAccuracy
		}
		return split, key
	}
	for key, why := range r.Missing {
		if key != measure.KeyDilation && key != measure.KeyTestAccuracy { // not requested where there are no test samples
			m.into.put(split, layer, key, 0, why)
		}
	}
	for key, x := range r.Measures.All() {
		to, name := at(key)
		m.into.put(to, layer, name, x, "")
	}
}
