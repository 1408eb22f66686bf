package study

import (
	"context"
	"fmt"

	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// MeasureLater measures what a finished run keeps (a training run its checkpoints, a script the features that it gave) and adds to the lab
// what the run lacks, in one transaction. Nothing is trained.
func MeasureLater(ctx context.Context, lab *store.Lab, hash string, opts train.Options) (added int, err error) {
	run, err := lab.Run(hash)
	if err != nil {
		return 0, err
	}
	if run.Status != store.Done {
		return 0, &store.NotDoneError{Hash: hash, Status: run.Status}
	}
	var rows []store.Value
	source := "features"
	switch run.Kind {
	case store.Train:
		source, opts.Open = "checkpoints", OpenSet
		rows, err = train.Later(ctx, lab.Reader, run, opts)
	case store.Script:
		rows, err = script.Later(ctx, lab.Reader, run, measure.Options{Team: opts.Team, Measures: opts.Measures})
	default:
		return 0, fmt.Errorf("study: run %.12s is of kind %s, which keeps nothing that could be measured", hash, run.Kind)
	}
	if err != nil {
		return 0, err
	}
	return lab.AddMeasured(hash, rows, train.ThisProgram(), source)
}
