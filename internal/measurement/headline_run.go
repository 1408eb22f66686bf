package measurement

import (
	"context"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/measure"
)

// HeadlineOfRun is the headline of the training features that a finished run saved: what `collapse measure` says of the file. It measures no
// more than the headline needs. A nil budget is arrayfile.NewFileBudget.
func HeadlineOfRun(ctx context.Context, dir string, budget *arrayfile.Budget) (string, error) {
	path := rundir.Dir(dir).FinalFeatures()
	if err := jail.Below(dir, path); err != nil {
		return "", err
	}
	set, err := featurefiles.Open(featurefiles.Request{Context: ctx, Files: []string{path}, Budget: budget})
	if err != nil {
		return "", err
	}
	defer set.Close()
	report, err := set.Measure(0, measure.Options{Context: ctx, Null: measure.DefaultNull,
		Measures: []string{measure.KeyNC1Pinv, measure.KeyNC2MeansCentred, measure.KeyNC2MeansOF, measure.KeyNC4NCCMismatch}})
	if err != nil {
		return "", err
	}
	return HeadlineOf(report), nil
}
