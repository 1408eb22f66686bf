package featurefiles

import (
	"context"
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/sampling"
	"collapse.example/collapse/measure"
)

// Request says which files hold what, as a user named them.
type Request struct {
	// Files hold several of the arrays under their usual names. One folder may stand in their place, if the Python package collapse wrote it.
	Files []string
	// From holds file names and patterns for single roles; files of one pattern are shards, sorted.
	From [roleCount][]string
	// Keys names arrays within their files; "" means the usual names.
	Keys [roleCount]string
	// Layers is a pattern of array names, or of a folder's layers, each of which becomes a column of its own.
	Layers string
	// Classes is K where labels alone do not tell; 0: from the classifier, else from the labels.
	Classes int
	// ClassNames are the words of labels in the order of the classes, which is that of a classifier's rows; nil: alphabetical, and none beside a
	// classifier.
	ClassNames []string
	// Means is the merged first pass of all shards, which numbers the classes; nil without one.
	Means *measure.Moments
	// IgnoreLabels spells labels whose samples have no part in anything, such as -100.
	IgnoreLabels []string
	// TransposeWeights says that the classifier is stored d×K, TransposeFeatures that all features are stored d×N.
	TransposeWeights, TransposeFeatures bool
	// Context stops Open between files and arrays when it ends, with its error; nil: nothing does.
	Context context.Context
	// Budget bounds the memory that the files take when they are unpacked and decoded, together; nil: arrayfile.NewFileBudget.
	Budget *arrayfile.Budget
}

// Set is features, labels and classifier found in files, checked against each other. Close releases
// the files.
type Set struct {
	// Columns are what is measured: one, or one for each layer.
	Columns []Column
	K       int
	// TestClasses is the number of classes of test and true labels; smaller than K with latent classes.
	TestClasses int
	// Values spells the label of each class; nil if labels are the class numbers themselves.
	Values []string
	// Inputs lists the arrays that were taken.
	Inputs []Input
	// Notes are remarks on the input that a user should read.
	Notes []string

	lib     library
	turned  bool // features are stored d×N
	labels  *labelled
	tested  *labelled // test labels; nil if there are none
	truth   *labelled // nil if there are none
	train   []int32
	test    []int32
	clean   []int32
	redrawn []bool
	head    *classifier
	table   *table
	textual bool  // labels are text
	fixed   bool  // K was stated
	rows    []int // of the classifier, those of the classes of Request.Means first; nil: as they are
}

// Column is one layer's features.
type Column struct {
	Name       string // of the array
	N, D       int
	Classifier bool // whether the classifier belongs to these features

	train, test, ood *matrix
}

// Input is one array that was taken, over all its shards.
type Input struct {
	Role  string   `json:"role"`
	Array string   `json:"array,omitempty"` // name in the file
	Files []string `json:"files"`
	DType string   `json:"dtype"`
	Shape []int    `json:"shape"` // with all shards together
}

// Open finds, opens and checks what a request names. The caller must Close the set.
func Open(req Request) (*Set, error) {
	if req.Budget == nil {
		req.Budget = arrayfile.NewFileBudget()
	}
	req.Budget = req.Budget.Part(math.MaxInt64) // what the set takes is given back with it
	capture, err := fromCapture(&req)
	if err != nil {
		return nil, err
	}
	f := &finder{req: &req, capture: capture, lib: library{budget: req.Budget, part: true, context: req.Context}, taken: map[[2]string]bool{}}
	var s *Set
	err = f.lib.reading(func() (err error) { s, err = f.set(); return err })
	if err != nil {
		return nil, joinClose(err, f.lib.close())
	}
	s.lib = f.lib
	return s, nil
}

// ended returns the error of a context that has ended; nil is one that never does.
func ended(ctx context.Context) error {
	if ctx == nil {
		return nil
	}
	return ctx.Err()
}

func joinClose(err, closing error) error {
	if closing != nil {
		return fmt.Errorf("%w (and closing files: %v)", err, closing)
	}
	return err
}

// Close releases the files; nothing of the set can be measured afterwards.
func (s *Set) Close() error { return s.lib.close() }

func (f *finder) set() (*Set, error) {
	if f.capture == nil && len(f.req.Files) == 0 && len(f.req.From[Features]) == 0 {
		return nil, fmt.Errorf("no file was named; give FILE…, or --features FILE --labels FILE, or - for standard input")
	}
	if err := f.openFiles(); err != nil {
		return nil, err
	}
	s := &Set{turned: f.req.TransposeFeatures}
	for _, step := range []func(*Set) error{f.columns, f.allLabels, f.oneModel, f.classifier, f.number, f.room, f.testSplit, f.masks, f.beware} {
		if err := ended(f.req.Context); err != nil {
			return nil, err
		}
		if err := step(s); err != nil {
			return nil, err
		}
	}
	s.Notes = append(f.notes, s.Notes...)
	return s, nil
}

// columns finds the features and, with --layers, the other layers.
func (f *finder) columns(s *Set) error {
	if f.capture != nil && f.req.Layers != "" {
		return f.captured(s)
	}
	parts, err := f.find(Features)
	if err != nil {
		return err
	}
	if f.req.Layers == "" {
		if len(parts) == 0 {
			return f.nothing(Features)
		}
		m, err := s.matrix(Features, parts)
		if err != nil {
			return err
		}
		s.Columns = []Column{{Name: shortName(parts[0]), N: m.rows(), D: m.d, Classifier: true, train: m}}
		return nil
	}
	return f.layers(s, parts)
}

// layers adds a column for each layer, then one for the features if they are not among the layers. The
// classifier belongs to the features alone: other layers are not its input.
func (f *finder) layers(s *Set, features []part) error {
	files := f.own[Features]
	if len(files) == 0 {
		files = f.common
	}
	list, err := layerNames(files, f.req.Layers)
	if err != nil {
		return err
	}
	add := func(name string, parts []part, head bool) error {
		m, err := s.matrix(Features, parts)
		if err != nil {
			return err
		}
		s.Columns = append(s.Columns, Column{Name: name, N: m.rows(), D: m.d, Classifier: head, train: m})
		return nil
	}
	for _, name := range list {
		if slices.ContainsFunc(features, func(p part) bool { return p.label == name }) {
			continue // comes last
		}
		parts, err := named(files, name)
		if err == nil {
			err = add(name, parts, false)
		}
		if err != nil {
			return err
		}
	}
	if len(features) > 0 {
		return add(shortName(features[0]), features, true)
	}
	return nil
}

func shortName(p part) string {
	if p.name == "" {
		return "features"
	}
	return p.name
}

// nothing says that a required role was not found.
func (f *finder) nothing(r Role) error {
	if len(f.own[r]) == 0 && len(f.common) > 0 {
		return f.unknown(f.common[0], r)
	}
	return fmt.Errorf("the %s are missing; give %s FILE%s", r, roles[r].flag, f.perClass(r, f.own[Features]))
}

// matrix joins parts and lists them as an input.
func (s *Set) matrix(r Role, parts []part) (*matrix, error) {
	if s.turned {
		parts = turned(parts)
	}
	m, err := newMatrix(r, parts)
	if err != nil {
		return nil, err
	}
	m.turned = s.turned
	s.list(r, parts, []int{m.rows(), m.d})
	return m, nil
}

func (s *Set) list(r Role, parts []part, shape []int) {
	in := Input{Role: r.String(), Array: parts[0].name, DType: parts[0].DType.String(), Shape: shape}
	for _, p := range parts {
		in.Files = append(in.Files, p.path)
	}
	s.Inputs = append(s.Inputs, in)
}

// Measure measures one column. Errors name files and flags; see explain.go.
func (s *Set) Measure(column int, opt measure.Options) (*measure.Report, error) {
	c := &s.Columns[column]
	var r *measure.Report
	opt.IgnoreLabels, opt.Stored = s.table.codes(), s.lib.stored()
	err := s.lib.reading(func() (err error) {
		if c.train.wide() || c.test != nil && c.test.wide() || c.ood != nil && c.ood.wide() {
			r, err = measureAs[float64](s, c, opt)
		} else {
			r, err = measureAs[float32](s, c, opt)
		}
		return err
	})
	if err != nil {
		return nil, s.explain(c, err)
	}
	s.nameLeftOut(r)
	return r, nil
}

func measureAs[T float32 | float64](s *Set, c *Column, opt measure.Options) (*measure.Report, error) {
	in := measure.Input[T]{Classes: s.K, TestClasses: s.TestClasses, True: s.clean, Redrawn: s.redrawn}
	in.Train.Labels, in.Test.Labels = s.train, s.test
	for _, split := range []struct {
		from *matrix
		to   *measure.Source[T]
	}{{c.train, &in.Train.Features}, {c.test, &in.Test.Features}, {c.ood, &in.OOD}} {
		if split.from == nil {
			continue
		}
		var err error
		if *split.to, err = newSource[T](split.from); err != nil {
			return nil, err
		}
	}
	if c.test == nil {
		in.Test.Labels = nil
	}
	if c.Classifier && s.head != nil {
		in.W, in.B = s.head.w, s.head.b
	}
	return measure.Measure(in, opt)
}

// Sample returns at most n rows of a column's features, of each class as many, with their classes as r, the column's report, numbers
// them: of every class, or, of many, of at most so many evenly chosen ones (every step-th, from class 0).
func (s *Set) Sample(column int, r *measure.Report, n, classes int) (rows []float64, class []int32, err error) {
	err = s.lib.reading(func() (err error) { rows, class, err = s.sample(column, r, n, classes); return err })
	return rows, class, err
}

func (s *Set) sample(column int, r *measure.Report, n, classes int) (rows []float64, class []int32, err error) {
	m := s.Columns[column].train
	src, err := newSource[float64](m)
	if err != nil {
		return nil, nil, err
	}
	place := make(map[int32]int32, r.K)
	for k := range r.K {
		place[int32(r.Class(k))] = int32(k)
	}
	step := int32((r.K + classes - 1) / classes)
	of := make([]int32, len(s.train)) // −1: not drawn
	for i, c := range s.train {
		of[i] = -1
		if k, there := place[c]; there && k%step == 0 {
			of[i] = k
		}
	}
	from := sampling.PerClass(of, n)
	rows = make([]float64, len(from)*m.d)
	for i, at := range from {
		row, err := src.Read(rows[i*m.d:(i+1)*m.d], at, at+1)
		if err != nil {
			return nil, nil, err
		}
		copy(rows[i*m.d:], row)
		class = append(class, of[at])
	}
	return rows, class, nil
}

// CheapSpectrum reports whether the eigenvalues of a column's Σ_B cost little beside the passes.
func (s *Set) CheapSpectrum(column int) bool {
	return min(s.K, s.Columns[column].D) <= 64
}
