package cli

import (
	"io"

	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/parallel"
)

// merge combines state files and reports the result.
func (c *measureCmd) merge(team *parallel.Team) (*measurement.Result, error) {
	req := c.request()
	if c.Means != "" {
		var err error
		if req.Means, err = featurefiles.ReadMoments(c.Means, c.IgnoreLabel, req.Budget); err != nil {
			return nil, err
		}
	}
	columns, err := featurefiles.MergeStates(req)
	if err != nil {
		return nil, err
	}
	return c.onePass(columns, team)
}

// oneColumn is the only column of a shard or a stream.
func oneColumn(one *featurefiles.OnePass) []featurefiles.StateColumn {
	return []featurefiles.StateColumn{{Name: "features", OnePass: one}}
}

// onePass reports moments, and saves those of the last column if asked to.
func (c *measureCmd) onePass(columns []featurefiles.StateColumn, team *parallel.Team) (*measurement.Result, error) {
	one := columns[len(columns)-1]
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
	found := &measurement.Result{Values: one.Values(), Main: len(columns) - 1}
	for _, column := range columns {
		r, err := column.Report(opt)
		if err != nil {
			return nil, err
		}
		found.Columns = append(found.Columns, measurement.NewColumn(column.Name, r))
		found.Inputs, found.Notes = append(found.Inputs, column.Inputs...), append(found.Notes, column.Notes...)
	}
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

// secondPass measures a shard against the class means of all shards and writes its state.
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
		a.printf("%d samples measured against the class means of %s: %s\ncollapse measure --merge --means %s %s … combines the second passes of all shards\n",
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
