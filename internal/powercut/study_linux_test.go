package powercut_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/powercut"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/upkeep"
)

// studied are the runs of roleStudy.
func studied() []train.Config {
	base := studytest.StepByStep()
	base.Run.Epochs = 3
	return demo.Grid{Base: base, Losses: []string{"ce", "mse"}, Noise: []float64{0}, Seeds: 1}.Configs()
}

// roleStudy computes a study in the folder args[0]: a coordinator with one slot.
func roleStudy(args []string) error {
	lab, err := store.Open(filepath.Join(args[0], "lab"), store.Options{})
	if err != nil {
		return err
	}
	var items []study.Item
	for _, c := range studied() {
		item, err := study.TrainItem(c, demo.Name(c))
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	if _, err := study.Save(lab, "s", "", "", items); err != nil {
		return err
	}
	fmt.Println("saved")
	if err := executed(lab, func(e coordinator.Event) {
		if e.Ended != nil {
			fmt.Println("ended", e.Ended.Hash)
		}
	}); err != nil {
		return err
	}
	fmt.Println("finished")
	return lab.Close()
}

// executed executes the study of a lab.
func executed(lab *store.Lab, watch func(coordinator.Event)) error {
	opt := coordinator.Options{Slots: 1, Threads: 1, Queue: studytest.QuickQueue(), Watch: watch}
	s, err := coordinator.Execute(ctx, lab, []string{"s"}, opt)
	if err == nil && s.Done != len(studied()) {
		err = fmt.Errorf("%+v", s)
	}
	return err
}

// TestAStudyAfterAPowerCut: runs that were said to have ended are done, and the study goes on to the rows and models of an undisturbed one.
func TestAStudyAfterAPowerCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := powercut.Record(t, root, faulttest.Command("study", root))
	r.Named = true // the queue's server syncs no folders
	whole := openLab(t, filepath.Join(root, "lab"))
	r.Cuts(t, longtest.Of(12, 300), func(t *testing.T, c powercut.Cut) {
		t.Parallel()
		lab := openLab(t, filepath.Join(c.Dir, "lab"))
		for _, line := range c.Said {
			if hash, ok := strings.CutPrefix(line, "ended "); ok {
				if run, err := lab.Run(hash); err != nil || run.Status != store.Done {
					t.Errorf("run %.12s was said to have ended, and is %s, %v", hash, run.Status, err)
				}
			}
		}
		if _, ok := c.SaidLast("saved"); !ok {
			_, err := study.Save(lab, "s", "", "", studytest.Items(t, studied()))
			must(t, err)
		}
		must(t, executed(lab, func(coordinator.Event) {}))
		studytest.SameValues(t, lab, whole, studied())
		if report, err := upkeep.Check(lab.Reader, nil); err != nil || !report.Whole() {
			t.Errorf("%+v, %v", report, err)
		}
	})
}
