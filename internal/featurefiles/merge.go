package featurefiles

import (
	"fmt"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/measure"
)

// ReadMoments reads a state file of a first pass, without classes whose label is ignored. What it takes stays taken of the budget.
func ReadMoments(path string, ignore []string, budget *arrayfile.Budget) (*measure.Moments, error) {
	state, _, err := readState(path, budget)
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

// Memory, at most and about, of a state: its bytes while it is read, and then its numbers, of which the triangle of a pooled scatter
// becomes a square.
const (
	stateBytes   = 1
	stateNumbers = 2
)

// readState reads a state within a budget that its file makes larger as others do. taken is what stays taken for its numbers.
func readState(path string, budget *arrayfile.Budget) (state measure.State, taken int64, err error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return state, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return state, 0, err
	}
	size := min(info.Size(), mostState) // a larger file is refused before it is read
	budget.Opened(size)
	if err := budget.Take((stateBytes + stateNumbers) * size); err != nil {
		return state, 0, fmt.Errorf("%s: %w", path, err)
	}
	defer budget.Give(stateBytes * size)
	b, err := inputfile.Read(path, mostState)
	if err != nil {
		return state, 0, err
	}
	if state, err = measure.ReadState(b); err != nil {
		return state, 0, fmt.Errorf("%s: %w", path, err)
	}
	return state, stateNumbers * size, nil
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
		if err := ended(req.Context); err != nil {
			return nil, err
		}
		state, taken, err := readState(path, req.Budget)
		if err != nil {
			return nil, err
		}
		before := out.held()
		if err := out.add(state, req.Means); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		req.Budget.Give(taken) // for what the merged states have grown by, which is no more
		if err := req.Budget.Take(out.held() - before); err != nil {
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
	if err := momentsRoom(req.Budget, out.Moments.K, out.Moments.D); err != nil {
		return nil, fmt.Errorf("the states: %w", err)
	}
	out.Inputs[0].Shape = []int{out.Moments.K, out.Moments.D}
	return out, out.classifier(req)
}

// held is the memory of the numbers of the merged states, but for what a few vectors of their width take.
func (o *OnePass) held() (bytes int64) {
	if m := o.Moments; m != nil {
		bytes += 8 * int64(len(m.Values)+len(m.Count)+len(m.Scatter)+len(m.Mean)+len(m.Pooled)+len(m.Far))
	}
	if o.SecondPass != nil {
		bytes += 6 * 8 * int64(o.SecondPass.K)
	}
	return bytes
}

// add merges one state; means is what --means holds, nil without it.
func (o *OnePass) add(state measure.State, means *measure.Moments) error {
	switch {
	case state.SecondPass != nil && means == nil:
		return fmt.Errorf("a second pass; give the merged first passes it was made with: --means FILE")
	case state.Moments != nil && means != nil:
		return fmt.Errorf("a first pass; with --means only second passes are merged")
	case state.SecondPass != nil && o.SecondPass == nil:
		o.SecondPass = state.SecondPass
		return nil
	case state.SecondPass != nil:
		return o.SecondPass.Merge(state.SecondPass)
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
	ignore, err := parseIgnored(req.IgnoreLabels, nil)
	if order != nil {
		for _, row := range order[o.Moments.K:] {
			if !ignores(ignore, int64(row)) {
				o.absent = append(o.absent, int64(row))
			}
		}
	}
	return err
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
