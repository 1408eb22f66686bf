package measure

import (
	"errors"
	"fmt"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/kernel"
)

// FromArray is the Source of an N×d array of a file: a view of the file's memory if it holds T in
// row-major order, else blocks converted as they are read (float16, bfloat16, float64 to float32,
// Fortran order, foreign byte order). The array's File must stay open.
//
// It returns *ShapeError unless a has two axes, the second at least 1 wide.
func FromArray[T float32 | float64](a arrayfile.Array) (Source[T], error) {
	if len(a.Shape) != 2 || a.Shape[1] < 1 {
		return nil, &ShapeError{What: fmt.Sprintf("axes of features %q of shape %v", a.Name, a.Shape), Found: len(a.Shape), Want: 2, Hint: "one row per sample: N×d"}
	}
	if h, ok := arrayfile.View[T](a); ok {
		return &Rows[T]{H: h, D: a.Shape[1]}, nil
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
		return nil, fmt.Errorf("measure: features %q: %w", c.a.Name, err)
	}
	return rows, nil
}

// Join is the Source of the rows of parts, one after the other, whatever their lengths: a report of it has
// the same bits as one of the same rows in one piece. It returns *ShapeError if widths differ or there is
// no part.
func Join[T kernel.Float](parts ...Source[T]) (Source[T], error) {
	if len(parts) == 0 {
		return nil, &ShapeError{What: "shards of features", Found: 0, Want: 1}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	_, d := parts[0].Size()
	j := &joined[T]{parts: parts, d: d, start: make([]int, 1, len(parts)+1)}
	for i, p := range parts {
		n, width := p.Size()
		if width != d {
			return nil, &ShapeError{What: fmt.Sprintf("width of feature shard %d", i), Found: width, Want: d, Hint: "all shards have the width of the first"}
		}
		j.start = append(j.start, j.start[i]+n)
	}
	return j, nil
}

type joined[T kernel.Float] struct {
	parts []Source[T]
	start []int // first row of each part, and the number of rows
	d     int
}

func (j *joined[T]) Size() (n, d int) { return j.start[len(j.parts)], j.d }

// Read passes rows through if they lie in one part, and copies across boundaries.
func (j *joined[T]) Read(buf []T, from, to int) ([]T, error) {
	i := j.part(from)
	if to <= j.start[i+1] {
		return j.parts[i].Read(buf, from-j.start[i], to-j.start[i])
	}
	out := buf[:(to-from)*j.d]
	for at := from; at < to; i++ {
		end := min(to, j.start[i+1])
		hole := out[(at-from)*j.d : (end-from)*j.d]
		rows, err := j.parts[i].Read(hole, at-j.start[i], end-j.start[i])
		if err != nil {
			return nil, err
		}
		copy(hole, rows)
		at = end
	}
	return out, nil
}

// part returns the part that holds a row.
func (j *joined[T]) part(row int) int {
	i, found := slices.BinarySearch(j.start, row)
	if !found {
		i--
	}
	for i+1 < len(j.parts) && j.start[i+1] == row { // empty parts
		i++
	}
	return min(i, len(j.parts)-1)
}

// Shards are the memory-mapped features of several files of one array each (.npy), in order.
type Shards[T float32 | float64] struct {
	Source[T]
	files []*arrayfile.File
}

// OpenShards maps the files at paths. The error names the file. Close releases them. Read rows only within Reading; otherwise
// another program that truncates a file crashes this one.
func OpenShards[T float32 | float64](paths ...string) (*Shards[T], error) {
	s := &Shards[T]{}
	var parts []Source[T]
	for _, path := range paths {
		part, err := s.open(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("measure: %s: %w", path, err), s.Close())
		}
		parts = append(parts, part)
	}
	source, err := Join(parts...)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Source = source
	return s, nil
}

func (s *Shards[T]) open(path string) (Source[T], error) {
	file, err := arrayfile.Open(path)
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, file)
	a, err := file.Load("")
	if err != nil {
		return nil, err
	}
	return FromArray[T](a)
}

// Reading calls f, which measures the rows of the shards. If another program changes one of their files meanwhile, the error is
// *arrayfile.ChangedError, and the results of f are invalid.
func (s *Shards[T]) Reading(f func() error) error {
	err := arrayfile.Guard(f)
	for _, file := range s.files {
		if changed := file.Changed(); changed != nil {
			return changed
		}
	}
	return err
}

// Close unmaps the files; rows read from them become invalid.
func (s *Shards[T]) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	s.files = nil
	return errors.Join(errs...)
}
