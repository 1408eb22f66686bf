package script

import (
	"fmt"
	"os"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Inspect says what is wrong with a run that no process works on: for a finished run, rows or the folder may be missing. The script
// decides which checkpoints exist, and only the script knows what they hold.
func Inspect(lab *store.Reader, run store.Run) (found train.Inspection, err error) {
	epochs, err := EpochsOf(run.Config)
	if err != nil || run.Status != store.Done {
		return found, err
	}
	dir := rundir.Dir(lab.RunDir(run.Hash))
	if _, err := os.Stat(string(dir)); os.IsNotExist(err) {
		found.Wrong = []string{"its folder is missing"}
		return found, nil
	}
	gaps, err := lab.MissingSteps(run.Hash, ReportKey, 1, 1, int64(epochs))
	if err != nil {
		return found, err
	}
	if len(gaps) > 0 {
		found.Wrong = append(found.Wrong, fmt.Sprintf("rows of epochs %s are missing", store.NameSpans(gaps)))
	}
	if run.LastEpoch > int64(epochs) {
		found.Wrong = append(found.Wrong, fmt.Sprintf("there are rows of epoch %d, but the run has %d epochs", run.LastEpoch, epochs))
	}
	found.Stray, err = dir.Staging()
	return found, err
}
