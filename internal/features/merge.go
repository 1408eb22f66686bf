package features

import (
	"fmt"

	"collapse/arrayfile"
	"collapse/internal/inputfile"
	"collapse/measure"
)

// ReadMoments reads a state file of a first pass, without classes whose label is ignored.
func ReadMoments(path string, ignore []string) (*measure.Moments, error) {
	state, err := readState(path)
	if err != nil {
		return nil, err
	}
	if state.Moments == nil {
		return nil, fmt.Errorf("%s holds a second pass; want the merged first passes (--merge FILES --state-out FILE)", path)
	}
	labels, err := parseIgnored(ignore, nil)
	if err != nil {
		return nil, err
	}
	m, _ := withoutIgnored(state.Moments, labels)
	return m, nil
}

// mostState is the largest state that is read: class means of 21,841 classes of width 4,096 have 0.7 GB.
const mostState = 64 << 30

func readState(path string) (measure.State, error) {
	b, err := inputfile.Read(path, mostState)
	if err != nil {
		return measure.State{}, err
	}
	state, err := measure.ReadState(b)
	if err != nil {
		return measure.State{}, fmt.Errorf("%s: %w", path, err)
	}
	return state, nil
}

// Merge combines state files, all of first passes or all of second passes; those of second passes need
// req.Means. The classifier, if there is one, comes from req.
func Merge(req Request) (*OnePass, error) {
	if req.Budget == nil {
		req.Budget = arrayfile.NewFileBudget()
	}
	paths, err := expand(Features, req.Files)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("--merge: no state file was named; give FILE.ncs …")
	}
	out := &OnePass{Moments: req.Means, Inputs: []Input{{Role: "states", Files: paths, DType: "NCS"}}}
	for _, path := range paths {
		state, err := readState(path)
		if err != nil {
			return nil, err
		}
		if err := out.add(state, req.Means); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if req.Means == nil {
		labels, err := parseIgnored(req.IgnoreLabels, nil)
		if err != nil {
			return nil, err
		}
		out.Moments, out.left = withoutIgnored(out.Moments, labels)
	}
	out.Inputs[0].Shape = []int{out.Moments.K, out.Moments.D}
	return out, out.classifier(req)
}

// add merges one state; means is what --means holds, nil without it.
func (o *OnePass) add(state measure.State, means *measure.Moments) error {
	switch {
	case state.Second != nil && means == nil:
		return fmt.Errorf("a second pass; give the merged first passes it was made beside with --means FILE")
	case state.Moments != nil && means != nil:
		return fmt.Errorf("a first pass; with --means only second passes are merged")
	case state.Second != nil && o.Second == nil:
		o.Second = state.Second
		return nil
	case state.Second != nil:
		return o.Second.Merge(state.Second)
	case o.Moments == nil:
		o.Moments = state.Moments
		return nil
	}
	return o.Moments.Merge(state.Moments)
}

// classifier reads W and b for moments whose width and classes are known.
func (o *OnePass) classifier(req Request) error {
	c, err := classifierOf(&req, o.Moments.D, "the states")
	if err != nil || c == nil {
		return err
	}
	order, err := matchRows(o.Moments, c.k)
	if err != nil {
		return fmt.Errorf("%s: %w", c.wPart.where(), err)
	}
	o.W, o.B = arrange(c.w, order, c.d), arrange(c.b, order, 1)
	return nil
}

// classifierOf reads the classifier that a request's own flags name, for features of width d from a source; nil if
// there is none.
func classifierOf(req *Request, d int, source string) (*classifier, error) {
	f := &finder{req: req, lib: library{budget: req.Budget}, taken: map[[2]string]bool{}}
	defer f.lib.close()
	var c *classifier
	err := f.lib.reading(func() (err error) {
		for _, r := range []Role{Weights, Bias} {
			if f.own[r], err = f.lib.openAll(r, req.From[r]); err != nil {
				return err
			}
		}
		c, err = f.head(d, source)
		return err
	})
	return c, err
}
