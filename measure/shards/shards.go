// Package shards measures features where they lie: arrays of files, mapped into memory or converted block by block, as Sources of package
// measure. It is apart from measure because it needs readers of file formats.
package shards

import (
	"errors"
	"fmt"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// Of is the Source of an N×d array of a file: a view of the file's memory if it holds T in
// row-major order, else blocks converted as they are read (float16, bfloat16, float64 to float32,
// Fortran order, foreign byte order). The array's File must stay open.
//
// It returns *measure.ShapeError unless a has two axes, the second at least 1 wide.
func Of[T float32 | float64](a arrayfile.Array) (measure.Source[T], error) {
	if len(a.Shape) != 2 || a.Shape[1] < 1 {
		return nil, &measure.ShapeError{What: fmt.Sprintf("axes of features %q of shape %v", a.Name, a.Shape), Found: len(a.Shape), Want: 2, Hint: "one row per sample: N×d"}
	}
	if h, ok := arrayfile.View[T](a); ok {
		return &measure.Rows[T]{H: h, D: a.Shape[1]}, nil
	}
	return &converted[T]{a}, nil
}

// converted reads an array whose elements are not T in row-major order.
type converted[T float32 | float64] struct{ a arrayfile.Array }

func (c *converted[T]) Size() (n, d int) { return c.a.Shape[0], c.a.Shape[1] }

func (c *converted[T]) Read(buf []T, from, to int) ([]T, error) {
	d := c.a.Shape[1]
	rows := buf[:(to-from)*d]
	if err := arrayfile.Convert(c.a, from*d, rows); err != nil {
		return nil, fmt.Errorf("shards: features %q: %w", c.a.Name, err)
	}
	return rows, nil
}

// Set is the memory-mapped features of several files of one array each (.npy), in order.
type Set[T float32 | float64] struct {
	measure.Source[T]
	files []*arrayfile.File
}

// Open maps the files at paths. The error names the file. Close releases them. Read rows only within Reading; otherwise
// another program that truncates a file crashes this one.
func Open[T float32 | float64](paths ...string) (*Set[T], error) {
	s := &Set[T]{}
	var parts []measure.Source[T]
	for _, path := range paths {
		part, err := s.open(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("shards: %s: %w", path, err), s.Close())
		}
		parts = append(parts, part)
	}
	source, err := measure.Join(parts...)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Source = source
	return s, nil
}

func (s *Set[T]) open(path string) (measure.Source[T], error) {
	file, err := arrayfile.Open(path)
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, file)
	a, err := file.Load("")
	if err != nil {
		return nil, err
	}
	return Of[T](a)
}

// Reading calls f, which measures the rows of the shards. If another program changes one of their files meanwhile, the error is
// *arrayfile.ChangedError, and the results of f are invalid.
func (s *Set[T]) Reading(f func() error) error {
	err := arrayfile.Guard(f)
	for _, file := range s.files {
		if changed := file.Changed(); changed != nil {
			return changed
		}
	}
	return err
}

// Close unmaps the files; rows read from them become invalid.
func (s *Set[T]) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	s.files = nil
	return errors.Join(errs...)
}
