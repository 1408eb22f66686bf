package train

import (
	"math"
	"time"

	"collapse/measure"
)

// left counts what remains after the given step of the given epoch, both from 0.
func (j *job[T]) left(epoch, step int) (steps, measurements int) {
	epochs, per := j.cfg.Run.Epochs, j.s.stepsPerEpoch()
	steps = (epochs-epoch)*per - step
	measurements = epochs/j.cfg.Run.MeasureEvery - epoch/j.cfg.Run.MeasureEvery
	if epochs%j.cfg.Run.MeasureEvery != 0 {
		measurements++
	}
	return steps, measurements
}

func (j *job[T]) note(text string) {
	if j.opts.Sink != nil {
		j.opts.Sink.Note(text)
	}
}

func (j *job[T]) started() {
	if j.opts.Sink == nil {
		return
	}
	j.opts.Sink.Started(Started{Run: j.claim.Hash, Dir: j.claim.Dir, Epochs: j.cfg.Run.Epochs, StepsPerEpoch: j.s.stepsPerEpoch(),
		FirstEpoch: j.safe + 1, TrainSamples: j.s.in.train.N(), TestSamples: j.s.in.test.N(), Parameters: j.s.outline.Parameters, Memory: j.s.need,
		Kernel: j.s.engine.machine().Kernel, Threads: j.opts.Team.Threads()})
}

func (j *job[T]) finishedEpoch(epoch int, measured bool, sum *tally, rows []row) {
	if measured {
		j.rows = rows
	}
	if j.opts.Sink == nil {
		return
	}
	e := EpochDone{Epoch: epoch, Measured: measured, LR: j.s.cfg.Schedule.Rate(epoch - 1), NC1: math.NaN(),
		ImagesPerSecond: j.watch.rate(time.Now()), Left: j.watch.remaining(time.Now(), epoch, 0)}
	e.RunningLoss, e.RunningAccuracy = sum.mean()
	for _, r := range rows {
		if r.Missing != "" || r.Layer != "" {
			continue
		}
		switch r.Split + "/" + r.Measure {
		case splitTrain + "/loss":
			e.TrainLoss = r.Value
		case splitTrain + "/" + measure.KeyAccuracy:
			e.TrainAccuracy = r.Value
		case splitTest + "/loss":
			e.TestLoss = r.Value
		case splitTest + "/" + measure.KeyAccuracy:
			e.TestAccuracy = r.Value
		case splitTrain + "/" + measure.KeyNC1Pinv:
			e.NC1 = r.Value
		}
	}
	j.opts.Sink.Epoch(e)
}
