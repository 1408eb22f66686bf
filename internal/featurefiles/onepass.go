package featurefiles

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure"
)

// pooledWidth is the largest width for which one pass keeps the d×d scatter that nc1_pinv needs: 32 MB.
const pooledWidth = 2048

// OnePass is what one pass over a shard or a stream gives, or what merged state files hold.
type OnePass struct {
	Moments    *measure.Moments
	SecondPass *measure.SecondPass // of merged second passes; nil otherwise
	W, B       []float64           // the classifier; nil if there is none
	Inputs     []Input
	Notes      []string
	left       []measure.LeftOut // ignored before anything was summed up
	absent     []int64           // rows of the classifier that are not class of the moments, ascending
}

// Values spells the label of each class; nil if labels are the class numbers themselves.
func (o *OnePass) Values() []string {
	v := o.Moments.Values
	if v == nil || v[0] == 0 && v[len(v)-1] == int64(len(v)-1) {
		return nil
	}
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = fmt.Sprint(x)
	}
	return out
}

// Report returns the measures that one pass can give, or both passes if there is a second.
func (o *OnePass) Report(opt measure.Options) (r *measure.Report, err error) {
	if o.SecondPass != nil {
		r, err = o.SecondPass.Report(o.Moments, o.W, o.B, opt)
	} else {
		r, err = o.Moments.Report(o.W, o.B, opt)
	}
	if err != nil {
		return nil, err
	}
	o.nameLeftOut(r)
	return r, nil
}

// nameLeftOut spells the labels of classes that a report leaves out, and adds those that the states do not even know: of ignored labels, and
// rows of the classifier without a sample.
func (o *OnePass) nameLeftOut(r *measure.Report) {
	empty := measure.LeftOut{Split: "train", Reason: measure.LeftEmpty, Count: len(o.absent)}
	none := slices.Clone(o.absent)
	r.LeftOut = slices.DeleteFunc(r.LeftOut, func(l measure.LeftOut) bool {
		for j, c := range l.Classes {
			value := int64(c)
			if o.Moments.Values != nil {
				value = o.Moments.Values[c]
			}
			l.Labels[j] = fmt.Sprint(value)
			if l.Reason == measure.LeftEmpty {
				none = append(none, value)
			}
		}
		if l.Reason == measure.LeftEmpty {
			empty.Count += l.Count
		}
		return l.Reason == measure.LeftEmpty
	})
	slices.Sort(none)
	for _, v := range none[:min(len(none), measure.MostLeftOut)] {
		empty.Labels = append(empty.Labels, fmt.Sprint(v))
	}
	r.LeftOut = append(r.LeftOut, o.left...)
	if empty.Count > 0 {
		r.LeftOut = append(r.LeftOut, empty)
	}
	sort.SliceStable(r.LeftOut, func(i, j int) bool { a, b := &r.LeftOut[i], &r.LeftOut[j]; return cmp.Compare(a.Reason, b.Reason) < 0 })
}

// OnePass reads a column once. Without a classifier and without Request.Classes the state keeps label values, so that
// states of shards with other classes merge with it.
func (s *Set) OnePass(column int, opt measure.Options) (*OnePass, error) {
	c := &s.Columns[column]
	if s.textual {
		return nil, fmt.Errorf("%s: a state file holds numbers of classes, and these labels are text; number them alike in all shards", names(s.labels.parts))
	}
	m := measure.NewMoments(s.K, c.D, c.D <= pooledWidth)
	out := &OnePass{Moments: m, Inputs: s.Inputs, Notes: s.Notes, left: s.ignored()}
	if s.head != nil && s.table.values != nil {
		return nil, fmt.Errorf("%s: the labels of this shard are not class numbers from 0 to %d; a shard may lack classes, so that they cannot be matched in order; number them alike in all shards", names(s.labels.parts), s.K-1)
	}
	if s.head == nil && (!s.fixed || s.table.values != nil) {
		m.Values = s.table.all()
	}
	if c.Classifier && s.head != nil {
		out.W, out.B = s.head.w, s.head.b
	}
	err := s.lib.reading(func() error {
		if c.train.wide() {
			return addColumn[float64](s, c, m, opt)
		}
		return addColumn[float32](s, c, m, opt)
	})
	if err != nil {
		return nil, s.explain(c, err)
	}
	return out, nil
}

func addColumn[T float32 | float64](s *Set, c *Column, m *measure.Moments, opt measure.Options) error {
	src, err := newSource[T](c.train)
	if err != nil {
		return err
	}
	const blockElements = 1 << 21
	block := max(256, blockElements/c.D)
	buf := make([]T, min(block, c.N)*c.D)
	for at := 0; at < c.N; at += block {
		if err := ended(opt.Context); err != nil {
			return err
		}
		end := min(at+block, c.N)
		rows, err := src.Read(buf, at, end)
		if err != nil {
			return err
		}
		rows, classes := labelledRows(rows, s.train[at:end], c.D)
		if err := addBlock(m, opt, rows, classes); err != nil {
			return shifted(err, at)
		}
	}
	return nil
}

// addBlock adds rows, without those that are not finite if that was asked for.
func addBlock[T kernel.Float](m *measure.Moments, opt measure.Options, rows []T, labels []int32) error {
	err := measure.AddRows(m, opt.Team, rows, labels)
	var bad *measure.NonFiniteError
	if !opt.DropNonFinite || !errors.As(err, &bad) {
		return err
	}
	kept, class := make([]T, 0, len(rows)), make([]int32, 0, len(labels))
	for i, label := range labels {
		row := rows[i*m.D : (i+1)*m.D]
		if slices.ContainsFunc(row, func(v T) bool { return v-v != 0 }) {
			m.Dropped++
			continue
		}
		kept, class = append(kept, row...), append(class, label)
	}
	return measure.AddRows(m, opt.Team, kept, class)
}

// shifted counts the rows of an engine's error from the start of the column.
func shifted(err error, by int) error {
	var bad *measure.NonFiniteError
	if errors.As(err, &bad) {
		bad.Row += by
		bad.Where = "train"
	}
	return err
}

// SecondPass reads a column beside the class means of all shards: in the request that opened the set,
// Means must be m.
func (s *Set) SecondPass(column int, m *measure.Moments, opt measure.Options) (*measure.SecondPass, error) {
	c := &s.Columns[column]
	var second *measure.SecondPass
	err := s.lib.reading(func() (err error) {
		if c.train.wide() {
			second, err = secondAs[float64](s, c, m, opt)
		} else {
			second, err = secondAs[float32](s, c, m, opt)
		}
		return err
	})
	if err != nil {
		return nil, s.explain(c, err)
	}
	return second, nil
}

func secondAs[T float32 | float64](s *Set, c *Column, m *measure.Moments, opt measure.Options) (*measure.SecondPass, error) {
	src, err := newSource[T](c.train)
	if err != nil {
		return nil, err
	}
	in := measure.Input[T]{Classes: s.K, Train: measure.Split[T]{Features: src, Labels: s.train}}
	opt.IgnoreLabels = s.table.codes()
	if c.Classifier && s.head != nil {
		in.W, in.B = arrange(s.head.w, s.rows, c.D), arrange(s.head.b, s.rows, 1)
	}
	return measure.MeasureSecondPass(in, m, opt)
}
