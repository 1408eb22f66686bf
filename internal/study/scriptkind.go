package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// scriptKind is the kind of run that a user's own trainer computes.
type scriptKind struct{}

// specOf reads the payload of a run.
func specOf(payload string) (script.Spec, error) {
	if strings.HasPrefix(payload, trialMark) {
		_, payload, _ = strings.Cut(payload, "\n")
	}
	return script.Decode(payload)
}

func (*scriptKind) Compute(ctx context.Context, lab *store.Lab, hash, payload string, env Env) error {
	spec, err := specOf(payload)
	if err != nil {
		return queue.Fail(err)
	}
	if here, _, err := spec.Identity(); err != nil || here != hash {
		return queue.Fail(fmt.Errorf("study: the job of run %.12s is of run %.12s (%v)", hash, here, err))
	}
	progress := func(epoch int) { env.Progress(Progress{Epoch: epoch, Epochs: spec.Epochs}) }
	err = script.Run(ctx, lab, spec, script.Options{Folder: env.Scripts, Team: env.Team, From: TrialOf(payload).From, RowsElsewhere: withCheckpoint(env.RowsElsewhere),
		Started:  func(from int) { env.Started(int64(from)); progress(from) },
		Reported: func(epoch int) { env.Saved(int64(epoch)); progress(epoch) }, Note: env.Note})
	var failed *script.FailedError
	var changed *script.ChangedError
	var data *script.DataError
	var notAllowed *script.NotAllowedError
	var held *store.HeldError
	switch {
	case errors.As(err, &failed):
		return queue.Fail(err)
	case errors.As(err, &data):
		return &MachineError{Err: err, Stops: true}
	case errors.As(err, &changed), errors.As(err, &notAllowed):
		return &MachineError{Err: err}
	case errors.As(err, &held):
		return queue.Postpone(err)
	}
	return err
}

// withCheckpoint returns up to which epoch rows are elsewhere, given those up to the epoch before a checkpoint: the rows
// of the checkpoint's own epoch were sent before it, too, and a script's checkpoint does not hold them.
func withCheckpoint(elsewhere int64) int64 {
	if elsewhere == 0 {
		return 0
	}
	return elsewhere + 1
}

func (*scriptKind) Begin(ctx context.Context, lab *store.Lab, payload string) (int64, error) {
	spec, err := specOf(payload)
	if err != nil {
		return 0, err
	}
	epoch, err := script.Begin(lab, spec, TrialOf(payload).From)
	return int64(epoch), err
}

func (*scriptKind) Epochs(payload string) int64 {
	spec, err := specOf(payload)
	if err != nil {
		return 0
	}
	return int64(spec.Epochs)
}

func (*scriptKind) Reach(lab *store.Reader, hash string, elsewhere, upTo int64) (int64, string, error) {
	run, err := lab.Run(hash)
	if store.IsNotFound(err) {
		return min(elsewhere, upTo), "", nil
	}
	if err != nil {
		return 0, "", err
	}
	epochs, err := script.EpochsOf(run.Config)
	if err != nil {
		return 0, "", err
	}
	return script.Reach(lab, hash, epochs, elsewhere, upTo)
}

// CheckFiles accepts any files: it is up to a script which ones it leaves.
func (*scriptKind) CheckFiles(*store.Reader, string, string) error { return nil }

// headlines are the values that summarise a run, the best known first.
var headlines = []store.Key{
	{Series: "epoch", Split: "train", Measure: "nc1_pinv"},
	{Series: "epoch", Split: "test", Measure: "accuracy"}, {Series: "epoch", Split: "validation", Measure: "accuracy"},
	{Series: "epoch", Split: "test", Measure: "loss"}, {Series: "epoch", Split: "validation", Measure: "loss"}, {Series: "epoch", Measure: "loss"},
}

// mostWords is how many values a headline has.
const mostWords = 3

func (*scriptKind) Headline(lab *store.Reader, hash string) string {
	var words []string
	keys, err := lab.Keys(hash)
	if err != nil {
		return ""
	}
	keys = slices.DeleteFunc(keys, func(k store.Key) bool {
		return k.Series != "epoch" || k.Layer != "" || k.Measure == "lr" || slices.Contains(headlines, k)
	})
	own := func(k store.Key) bool { // a name that only the user can explain
		_, known := measure.Lookup(k.Measure)
		return !known && k.Measure != "loss"
	}
	first := slices.DeleteFunc(slices.Clone(keys), func(k store.Key) bool { return !own(k) })
	for _, key := range slices.Concat(first, headlines, slices.DeleteFunc(keys, own)) {
		points, err := lab.Series(hash, key)
		if err != nil || len(points) == 0 || len(words) == mostWords {
			continue
		}
		name, last := strings.TrimPrefix(key.Split+"/"+key.Measure, "/"), points[len(points)-1]
		if last.Missing != "" {
			words = append(words, name+" "+last.Lack())
			continue
		}
		words = append(words, fmt.Sprintf("%s %.4g", name, last.Value))
	}
	return strings.Join(words, ", ")
}
