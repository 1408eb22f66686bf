package parity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Ensembles are groups of cases that are computed in one batch: of each network and each optimiser that can be, one case of each loss, at other
// rates and seeds.
func Ensembles() (list [][]Case) {
	axes := axes()
	for n, net := range axes[0] {
		for o, optimiser := range axes[optimisers] {
			if n != o {
				continue
			}
			var group []Case
			for i, loss := range axes[1] {
				c := Case{Name: net.name + ", " + optimiser.name + ", " + loss.name, Tolerance: 1e-9}
				c.Settings = slices.Concat(net.settings, optimiser.settings, loss.settings, []string{fmt.Sprint("run.seed=", i+1), fmt.Sprintf("optim.lr=%g", .0005*float64(i+1))})
				if cfg, err := c.config("torch"); err == nil && cfg.Shares() {
					group = append(group, c)
				}
			}
			if len(group) > 0 {
				list = append(list, group)
			}
		}
	}
	return list
}

// Ensemble computes cases in one batch, with a slot that stays empty, and compares every row with our kernels; and then two of the cases in other
// slots, whose rows must have the same bits. The error is ctx's.
func (k *Checker) Ensemble(ctx context.Context, cases []Case) (near, same []Outcome, err error) {
	slots := len(cases) + 1
	together, err := k.together(ctx, cases, slots)
	for i, c := range cases {
		o := Outcome{Case: c.Name, Tolerance: c.Tolerance}
		wrong := err
		if wrong == nil {
			o.Worst, o.Where, wrong = k.distance(ctx, c, together[i])
		}
		near = append(near, o.failed(wrong))
	}
	pair := []Case{cases[len(cases)-1], cases[0]}
	again, wrong := k.together(ctx, pair, slots)
	for i, c := range pair {
		o, wrong := Outcome{Case: c.Name + ", with other members"}, errors.Join(err, wrong)
		if wrong == nil {
			o.Worst, o.Where, wrong = furthest(together[slices.IndexFunc(cases, func(other Case) bool { return other.Name == c.Name })], again[i])
		}
		same = append(same, o.failed(wrong))
	}
	return near, same, ctx.Err()
}

// failed notes what has gone wrong, if anything has.
func (o Outcome) failed(err error) Outcome {
	if err != nil {
		o.Error = err.Error()
	}
	return o
}

// together computes cases in one batch and returns the rows of each.
func (k *Checker) together(ctx context.Context, cases []Case, slots int) (rows [][]store.Value, err error) {
	rows = make([][]store.Value, len(cases))
	configs := make([]train.Config, len(cases))
	for i, c := range cases {
		if configs[i], err = c.config("torch"); err != nil {
			return nil, err
		}
	}
	err = k.inLab(func(lab *store.Lab) error {
		errs := make([]error, len(cases))
		var all sync.WaitGroup
		for i, cfg := range configs {
			opts := k.options()
			opts.Team, opts.Ensemble = nil, train.Ensemble{Members: slots, Threads: k.Team.Threads(), Exactly: true}
			all.Go(func() {
				var r train.Result
				if r, errs[i] = train.Run(ctx, cfg, lab, opts); errs[i] == nil {
					rows[i], errs[i] = lab.Values(r.Run)
				}
			})
		}
		all.Wait()
		return errors.Join(errs...)
	})
	return rows, err
}
