package cli

import (
	"io"

	"collapse/internal/featurefiles"
	"collapse/internal/measurement"
	"collapse/parallel"
)

// merge combines state files and reports what they hold.
func (c *measureCmd) merge(team *parallel.Team) (*measurement.Result, error) {
	req := c.request()
	if c.Means != "" {
		var err error
		if req.Means, err = featurefiles.ReadMoments(c.Means, c.IgnoreLabel, req.Budget); err != nil {
			return nil, err
		}
	}
	one, err := featurefiles.Merge(req)
	if err != nil {
		return nil, err
	}
	return c.onePass(one, team)
}

// onePass reports moments, and writes them if asked to.
func (c *measureCmd) onePass(one *featurefiles.OnePass, team *parallel.Team) (*measurement.Result, error) {
	if c.StateOut != "" {
		var state io.WriterTo = one.Moments
		if one.SecondPass != nil {
			state = one.SecondPass
		}
		if err := c.saveState(state); err != nil {
			return nil, err
		}
	}
	opt := c.options(team)
	opt.KeepSpectrum = c.HTML != ""
	r, err := one.Report(opt)
	if err != nil {
		return nil, err
	}
	found := &measurement.Result{Columns: []measurement.Column{measurement.NewColumn("features", r)},
		Values: one.Values(), Inputs: one.Inputs, Notes: one.Notes}
	found.NoteLeftOut()
	return found, nil
}

// secondDone is the JSON document of a second pass over one shard.
type secondDone struct {
	State string `json:"state"`
	N     int    `json:"n"`
	D     int    `json:"d"`
	K     int    `json:"k"`
}

// secondPass reads a shard beside the class means of all and writes its state.
func (c *measureCmd) secondPass(a *app, team *parallel.Team) error {
	req := c.request()
	var err error
	if req.Means, err = featurefiles.ReadMoments(c.Means, c.IgnoreLabel, req.Budget); err != nil {
		return unnamed(err)
	}
	set, err := featurefiles.Open(req)
	if err != nil {
		return unnamed(err)
	}
	defer set.Close()
	second, err := set.SecondPass(len(set.Columns)-1, req.Means, c.options(team))
	if err != nil {
		return err
	}
	if err := c.saveState(second); err != nil {
		return err
	}
	done := secondDone{State: c.StateOut, D: second.D, K: second.K}
	for _, n := range second.Count {
		done.N += n
	}
	return a.emit(done, func() {
		a.printf("%d samples measured beside the class means of %s: %s\ncollapse measure --merge --means %s %s … combines the second passes of all shards\n",
			done.N, c.Means, c.StateOut, c.Means, c.StateOut)
	})
}

// saveState writes the file of --state-out.
func (c *measureCmd) saveState(state io.WriterTo) error {
	return c.out.state.Write(func(w io.Writer) error {
		_, err := state.WriteTo(w)
		return err
	})
}
