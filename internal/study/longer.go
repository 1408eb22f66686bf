package study

import (
	"cmp"
	"encoding/json"
	"fmt"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Longer is what GoOn found of the runs that the lab lacks.
type Longer struct {
	Runs   int   // go on from finished ones
	After  int64 // the fewest epochs that those have
	Anew   int   // runs of a script that differ from finished ones in their horizon, too: they start at their beginning
	Before int64 // the most epochs that the finished ones have
	Rows   int   // could go on from finished ones, of which the lab has the numbers alone
	Bare   int   // could go on from finished ones, whose script has left no checkpoint
}

// GoOn has runs of a grid that the lab lacks go on from the longest finished run that differs from them in run.epochs alone, as a trial of a
// search does from its previous rung: both have the same identity up to there, so that the numbers are those of a run that was computed anew.
func GoOn(lab *store.Reader, items []Item) (found Longer, err error) {
	missing, err := lacking(lab, items)
	if err != nil || len(missing) == 0 {
		return found, err
	}
	same, alike, err := finishedLike(lab, missing)
	if err != nil {
		return found, err
	}
	for _, m := range missing {
		epochs := KindOf(m.Spec.Kind).Epochs(m.Payload)
		shorter, ok := same[keyOf(m.Spec)].below(epochs)
		if ok && rundir.Dir(lab.RunDir(shorter.Hash)).HasRowsOnly() {
			found.Rows++
		} else if ok && bare(lab, shorter) {
			found.Bare++
		} else if ok {
			head, err := json.Marshal(Trial{Epochs: int(epochs), From: shorter.Hash})
			if err != nil {
				return found, fmt.Errorf("study: %w", err)
			}
			m.Payload = trialMark + string(head) + "\n" + m.Payload
			found.Runs, found.After = found.Runs+1, min(cmp.Or(found.After, shorter.LastEpoch), shorter.LastEpoch)
		} else if shorter, ok := alike[keyOf(m.Spec, "horizon")].below(epochs); ok && m.Spec.Kind == store.Script {
			found.Anew, found.Before = found.Anew+1, max(found.Before, shorter.LastEpoch)
		}
	}
	return found, nil
}

// bare reports whether a script's run has left nothing to go on from.
func bare(lab *store.Reader, run store.Run) bool {
	checkpoints, _ := rundir.Dir(lab.RunDir(run.Hash)).Checkpoints() // without the folder there are none
	return run.Kind == store.Script && len(checkpoints) == 0
}

// lacking are the items that are not done.
func lacking(lab *store.Reader, items []Item) (missing []*Item, err error) {
	for i := range items {
		run, err := lab.Run(items[i].Hash)
		if err != nil && !store.IsNotFound(err) {
			return nil, err
		}
		if kind := KindOf(items[i].Spec.Kind); kind != nil && (err != nil || run.Status != store.Done) {
			missing = append(missing, &items[i])
		}
	}
	return missing, nil
}

// runs are finished runs that are alike but for their length.
type runs []store.Run

// below returns the longest of fewer epochs.
func (r runs) below(epochs int64) (longest store.Run, ok bool) {
	for _, run := range r {
		if run.LastEpoch < epochs && run.LastEpoch > longest.LastEpoch {
			longest, ok = run, true
		}
	}
	return longest, ok
}

// keyOf tells runs apart by all but their epochs and some more keys; "" is of none.
func keyOf(spec store.Spec, more ...string) string {
	config, err := store.Canonical(spec.Config)
	if err != nil {
		return ""
	}
	text, err := train.Without(config, append(more, "epochs")...)
	if err != nil {
		return ""
	}
	return string(spec.Kind) + "\n" + text
}

// finishedLike are the finished runs of the items' kinds by what they are but for their epochs, and but for their epochs and horizon.
func finishedLike(lab *store.Reader, items []*Item) (same, alike map[string]runs, err error) {
	kinds := map[store.Kind]bool{}
	same, alike = map[string]runs{}, map[string]runs{}
	for _, it := range items {
		if kind := it.Spec.Kind; !kinds[kind] {
			kinds[kind] = true
			list, err := lab.List(store.Filter{Kinds: []store.Kind{kind}, Statuses: []store.Status{store.Done}})
			if err != nil {
				return nil, nil, err
			}
			for _, run := range list {
				spec := store.Spec{Kind: run.Kind, Config: run.Config}
				same[keyOf(spec)] = append(same[keyOf(spec)], run)
				alike[keyOf(spec, "horizon")] = append(alike[keyOf(spec, "horizon")], run)
			}
		}
	}
	delete(same, "")
	delete(alike, "")
	return same, alike, nil
}
