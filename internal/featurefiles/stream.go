package featurefiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// Stream reads npy records, features (n×d) and labels (n) in turn, until the end, in one pass: memory
// holds one pair. The end of opt.Context stops it between pairs. Classifier and K come from req; without them classes are the label values that appear.
func Stream(r io.Reader, req Request, opt measure.Options) (*OnePass, error) {
	ignore, err := parseIgnored(req.IgnoreLabels, nil)
	if err != nil {
		return nil, err
	}
	if req.Budget == nil {
		req.Budget = arrayfile.NewBudget(StreamMemory)
	}
	s := &stream{r: r, opt: opt, budget: req.Budget, classes: req.Classes, ignore: table{ignore: ignore}}
	for {
		if err := ended(opt.Context); err != nil {
			return nil, err
		}
		more, err := s.pair(&req)
		if err != nil {
			return nil, fmt.Errorf("standard input: record %d: %w", s.record, err)
		}
		if !more {
			break
		}
	}
	if s.out == nil {
		return nil, errors.New("standard input is empty; want npy records: features (n×d), labels (n), features, labels, …")
	}
	if s.out.Moments == nil {
		return nil, errors.New("standard input: every label is one that --ignore-label names; nothing is left to measure")
	}
	s.out.left = s.ignore.leftOut(s.ignored)
	s.out.Inputs = append(s.out.Inputs,
		Input{Role: Features.String(), Files: []string{"-"}, DType: s.dtype.String(), Shape: []int{s.rows, s.d}})
	return s.out, nil
}

type stream struct {
	r         io.Reader
	opt       measure.Options
	budget    *arrayfile.Budget
	pairBytes int64 // taken from budget for the pair being read
	classes   int   // K, 0: as labels appear
	ignore    table
	ignored   []int // samples of each ignored label
	record    int   // number of the record being read, from 1
	rows      int
	d         int
	dtype     arrayfile.DType
	out       *OnePass
}

// pair reads features and labels and adds them; false at the end.
func (s *stream) pair(req *Request) (bool, error) {
	s.budget.Give(s.pairBytes)
	s.pairBytes = 0
	h, err := s.next()
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if len(h.Shape) != 2 || h.Shape[1] == 0 {
		return false, fmt.Errorf("shape %s; want features, samples × width, then their labels", size(h.Shape))
	}
	y, err := s.next()
	if err == io.EOF {
		return false, errors.New("the stream ends after features; want their labels")
	}
	if err != nil {
		return false, err
	}
	if y.Len() != h.Shape[0] {
		return false, fmt.Errorf("labels of shape %s after features of shape %s; want one for each row", size(y.Shape), size(h.Shape))
	}
	labels, err := y.Int64s()
	if err != nil {
		return false, fmt.Errorf("labels must be whole numbers: %w", err)
	}
	if s.out == nil {
		if err := s.begin(h, req); err != nil {
			return false, err
		}
	}
	if h.Shape[1] != s.d {
		return false, fmt.Errorf("features are %d wide, those before %d; want one width", h.Shape[1], s.d)
	}
	m, err := newMatrix(Features, []part{{path: "standard input", Array: h}})
	if err != nil {
		return false, err
	}
	if m.wide() {
		err = addRecord[float64](s, m, labels)
	} else {
		err = addRecord[float32](s, m, labels)
	}
	return err == nil, err
}

// begin reads the classifier once the width is known.
func (s *stream) begin(h arrayfile.Array, req *Request) error {
	s.d, s.dtype, s.out = h.Shape[1], h.DType, &OnePass{}
	c, err := classifierOf(req, s.d, "standard input")
	if err != nil {
		return err
	}
	if c != nil {
		if s.classes > 0 && s.classes != c.k {
			return fmt.Errorf("--classes %d, and %s has %d rows; want one for each class", s.classes, c.wPart.where(), c.k)
		}
		s.classes, s.out.W, s.out.B = c.k, c.w, c.b
	}
	if s.classes > 0 {
		if err := momentsRoom(s.budget, s.classes, s.d); err != nil {
			return err
		}
		s.out.Moments = measure.NewMoments(s.classes, s.d, s.d <= pooledWidth)
	}
	return nil
}

// addRecord adds one pair of records.
func addRecord[T float32 | float64](s *stream, m *matrix, labels []int64) error {
	src, err := newSource[T](m)
	if err != nil {
		return err
	}
	rows, err := src.Read(make([]T, m.rows()*m.d), 0, m.rows())
	if err != nil {
		return err
	}
	s.rows += m.rows()
	classes, values, err := s.number(labels)
	if err != nil {
		return err
	}
	if rows, classes = labelledRows(rows, classes, m.d); len(classes) == 0 {
		return nil
	}
	to := s.out.Moments
	if values != nil { // classes of this record, matched to the others by value
		if s.out.Moments == nil {
			if err := momentsRoom(s.budget, len(values), s.d); err != nil {
				return err
			}
		}
		to = measure.NewMoments(len(values), m.d, m.d <= pooledWidth)
		to.Values = values
	}
	if err := addBlock(to, s.opt, rows, classes); err != nil {
		return err
	}
	switch {
	case values == nil:
	case s.out.Moments == nil:
		s.out.Moments = to
	default:
		return s.merge(to)
	}
	return nil
}

// merge adds the moments of a record, whose classes may be new: labels that never end would fill the memory.
func (s *stream) merge(to *measure.Moments) error {
	before := s.out.Moments.K
	if err := s.out.Moments.Merge(to); err != nil {
		return err
	}
	return momentsRoom(s.budget, s.out.Moments.K-before, s.d)
}

// number turns labels into classes: those of the record's own values unless K is known.
func (s *stream) number(labels []int64) (classes []int32, values []int64, err error) {
	classes = make([]int32, len(labels))
	if s.classes == 0 {
		values = kept(slices.Compact(slices.Sorted(slices.Values(labels))), s.ignore.ignore)
	}
	s.ignored = s.ignore.countIgnored(s.ignored, labels)
	for i, v := range labels {
		if ignores(s.ignore.ignore, v) {
			classes[i] = -1
			continue
		}
		if s.classes > 0 {
			if v < 0 || v >= int64(s.classes) {
				return nil, nil, fmt.Errorf("sample %d has label %d; want 0 to %d (--ignore-label=%d leaves such samples out)", i, v, s.classes-1, v)
			}
			classes[i] = int32(v)
			continue
		}
		at, _ := slices.BinarySearch(values, v)
		classes[i] = int32(at)
	}
	return classes, values, nil
}

// next reads one record whole. Memory grows with what arrives, whatever the header claims.
func (s *stream) next() (arrayfile.Array, error) {
	s.record++
	h, err := arrayfile.ReadNPYHeader(s.r)
	if err != nil {
		return arrayfile.Array{}, err
	}
	want := int64(h.Len()) * int64(h.DType.Size())
	if err := s.budget.Take(want); err != nil {
		return arrayfile.Array{}, fmt.Errorf("%s claims %d bytes: %w; send smaller records", describe(h), want, err)
	}
	s.pairBytes += want
	var b bytes.Buffer
	if n, err := io.CopyN(&b, s.r, want); err != nil {
		return arrayfile.Array{}, fmt.Errorf("%s needs %d bytes, and the stream ends after %d", describe(h), want, n)
	}
	return arrayfile.Array{Header: h, Data: b.Bytes()}, nil
}
