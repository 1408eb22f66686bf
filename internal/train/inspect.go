package train

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// Inspection says what is wrong with a training run that no process works on.
type Inspection struct {
	Wrong []string // in words; empty: nothing
	From  int      // epoch of the newest checkpoint from which the run can be completed; 0: from the start
	Drop  []int    // epochs of checkpoints that it must not continue from, or that nothing needs
	Stray []string // what killed processes left in the folder of a finished run, relative to it
}

// Inspect compares the rows and the folder of a training run with what its configuration requires: for a finished run everything,
// for any other what its checkpoints rely on. It reads every checkpoint to verify its digests.
func Inspect(lab *store.Reader, run store.Run) (Inspection, error) {
	i, err := newInspector(lab, run)
	if err != nil {
		return Inspection{}, err
	}
	if err := i.inspect(); err != nil {
		return Inspection{}, err
	}
	if len(i.Wrong) == 0 && len(i.Stray) == 0 {
		i.Drop = nil
	}
	return i.Inspection, nil
}

type inspector struct {
	Inspection
	lab  *store.Reader
	run  store.Run
	cfg  Config
	dir  rundir.Dir
	done bool
	ckpt *checkpoints

	all   []int // epochs with a checkpoint
	whole []int // those that can be read
}

func newInspector(lab *store.Reader, run store.Run) (*inspector, error) {
	cfg, err := FromCanonical(run.Config)
	if err != nil {
		return nil, err
	}
	dir := rundir.Dir(lab.RunDir(run.Hash))
	i := &inspector{lab: lab, run: run, cfg: cfg, dir: dir, done: run.Status == store.Done,
		ckpt: &checkpoints{Writer: dir.Writer(nil), run: run.Hash}}
	if given, err := ConfigOf(string(dir)); err == nil { // what is kept is not part of the identity
		i.cfg.Run.Keep, i.cfg.Run.SaveFeatures = given.Run.Keep, given.Run.SaveFeatures
	} else {
		i.cfg.Run.Keep, i.cfg.Run.SaveFeatures = "all", "none"
		if i.done {
			i.wrong("%s", plain(err))
		}
	}
	return i, nil
}

func (i *inspector) wrong(format string, args ...any) {
	i.Wrong = append(i.Wrong, fmt.Sprintf(format, args...))
}

func (i *inspector) inspect() error {
	if _, err := os.Stat(string(i.dir)); os.IsNotExist(err) && i.done {
		i.Wrong = []string{"its folder is missing"}
		return nil
	}
	if i.done && i.dir.HasRowsOnly() {
		_, err := i.rows(i.cfg.Run.Epochs)
		return err
	}
	if err := i.checkpoints(); err != nil {
		return err
	}
	upTo := i.cfg.Run.Epochs
	if !i.done {
		if len(i.whole) == 0 {
			return nil
		}
		upTo = i.whole[len(i.whole)-1]
	}
	rows, err := i.rows(upTo)
	if err != nil {
		return err
	}
	files, err := i.files(upTo)
	if err != nil {
		return err
	}
	i.choose(rows, files)
	if i.done {
		i.finished()
	}
	return nil
}

// checkpoints reads all checkpoints.
func (i *inspector) checkpoints() error {
	var err error
	if i.all, err = i.ckpt.Checkpoints(); err != nil {
		return err
	}
	for _, epoch := range i.all {
		if _, err := i.ckpt.read(epoch); err != nil {
			i.wrong("checkpoint %d is damaged or incomplete: %s", epoch, plain(err))
			i.Drop = append(i.Drop, epoch)
			continue
		}
		i.whole = append(i.whole, epoch)
	}
	return nil
}

// rows returns the first epoch up to upTo, or upTo+1, whose rows are incomplete or impossible. The rows of the newest checkpoint's
// epoch may be missing from a run under way, since the checkpoint has them.
func (i *inspector) rows(upTo int) (first int, err error) {
	if !i.done {
		upTo--
	}
	first = upTo + 1
	gaps, err := Gaps(i.lab, i.run.Hash, i.cfg, upTo)
	if err != nil {
		return 0, err
	}
	if len(gaps) > 0 {
		i.wrong("rows of epochs %s are missing", store.NameSpans(gaps))
		first = int(gaps[0].First)
	}
	for _, look := range []func(upTo int) ([]int, error){i.incomplete, i.impossible, i.infinite} {
		epochs, err := look(upTo)
		if err != nil {
			return 0, err
		}
		if len(epochs) > 0 {
			first = min(first, epochs[0])
		}
	}
	return first, nil
}

// incomplete finds epochs that have fewer rows than others of their kind. Earlier versions of the program had none beside theory.
func (i *inspector) incomplete(upTo int) ([]int, error) {
	counts, err := i.lab.RowsPerStep(i.run.Hash, seriesEpoch, slices.Concat(SpeedMeasures, SizeKeys(), []string{KeyExcess, KeyOptimum}))
	if err != nil {
		return nil, err
	}
	most := map[bool]int{}
	for epoch, n := range counts {
		kind := i.cfg.measures(int(epoch))
		most[kind] = max(most[kind], n)
	}
	var fewer []int
	for epoch := 1; epoch <= upTo; epoch++ {
		if n := counts[int64(epoch)]; n > 0 && n < most[i.cfg.measures(epoch)] {
			fewer = append(fewer, epoch)
		}
	}
	if len(fewer) > 0 {
		i.wrong("rows of some measures are missing in epochs %s", nameEpochs(fewer))
	}
	if i.done {
		for epoch := range counts {
			if int(epoch) > i.cfg.Run.Epochs {
				i.wrong("there are rows of epoch %d, but the run has %d epochs", epoch, i.cfg.Run.Epochs)
				return append([]int{1}, fewer...), nil
			}
		}
	}
	return fewer, nil
}

// SpeedMeasures are the rows of an epoch that say how it was computed: a process that continues from a checkpoint cannot know them.
var SpeedMeasures = []string{"images_per_s", SpentKey.Measure}

// impossible finds epochs without a number that every epoch has: a run whose loss is NaN ends as diverged.
func (i *inspector) impossible(upTo int) ([]int, error) {
	values, err := i.lab.Pick(i.run.Hash, []string{"lr", "loss", "running_loss", "running_accuracy"})
	if err != nil {
		return nil, err
	}
	var epochs []int
	for _, v := range values {
		if v.Series != seriesEpoch || v.Layer != "" || v.Missing == "" || int(v.Step) > upTo || v.Split != "" && v.Split != splitTrain && v.Split != splitTest {
			continue
		}
		i.wrong("%s of epoch %d is not a number: %s", strings.TrimPrefix(v.Split+" "+v.Measure, " "), v.Step, v.Missing)
		if epochs = append(epochs, int(v.Step)); len(epochs) == 8 {
			break
		}
	}
	slices.Sort(epochs)
	return epochs, nil
}

// infinite finds infinite values, which this program itself stores as missing.
func (i *inspector) infinite(upTo int) ([]int, error) {
	n, first, err := i.lab.Infinite(i.run.Hash)
	if err != nil || n == 0 || int(first) > upTo {
		return nil, err
	}
	i.wrong("%d values are infinite, the first in epoch %d", n, first)
	return []int{int(first)}, nil
}

// choose finds the checkpoint to continue from: complete, with all rows before it and all files up to it.
func (i *inspector) choose(rows, files int) {
	for _, epoch := range i.whole {
		if rows >= epoch && files > epoch {
			i.From = epoch
		}
	}
	for _, epoch := range i.whole {
		if epoch > i.From {
			i.Drop = append(i.Drop, epoch)
		}
	}
	if !i.done && len(i.whole) > 0 && rows < i.whole[len(i.whole)-1] {
		i.wrong("checkpoint %d is ahead of the rows", i.whole[len(i.whole)-1])
	}
	slices.Sort(i.Drop)
}

// finished checks what only a finished run has.
func (i *inspector) finished() {
	last := i.cfg.Run.Epochs
	if !slices.Contains(i.all, last) {
		i.wrong("checkpoint %d, its last, is missing", last)
	}
	if err := rundir.Readable(i.dir.FinalFeatures()); err != nil {
		i.wrong("%s", plain(err))
	}
	i.stray()
}

// nameEpochs writes ascending epochs as ranges.
func nameEpochs(epochs []int) string {
	var spans []store.Span
	for _, e := range epochs {
		if n := len(spans); n > 0 && int(spans[n-1].Last) == e-1 {
			spans[n-1].Last++
			continue
		}
		spans = append(spans, store.Span{First: int64(e), Last: int64(e), Every: 1})
	}
	return store.NameSpans(spans)
}
