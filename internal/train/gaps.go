package train

import (
	"fmt"

	"collapse.example/collapse/internal/store"
)

// Keys whose rows say which epochs a lab has: rateKey is written after every epoch, lossKey after every measured one.
var (
	rateKey = store.Key{Series: seriesEpoch, Measure: "lr"}
	lossKey = store.Key{Series: seriesEpoch, Split: splitTest, Measure: "loss"}
)

// Gaps lists the epochs up to upTo for which a run of configuration c should have rows in the lab but has none: every epoch has rows
// of training; the measured ones (run.measure_every, run.measure_start, and the last) also have rows of measures. A finished run has
// no gaps up to its last epoch.
func Gaps(lab *store.Reader, hash string, c Config, upTo int) ([]store.Span, error) {
	trained, measured, err := missing(lab, hash, c, upTo)
	if err == nil && len(trained) == 0 {
		return measured, nil
	}
	return trained, err
}

// missing lists the epochs up to upTo without rows of training, and the measured ones without rows of measures.
func missing(lab *store.Reader, hash string, c Config, upTo int) (trained, measured []store.Span, err error) {
	last, every := int64(max(0, min(upTo, c.Run.Epochs))), int64(c.Run.MeasureEvery)
	if every < 1 {
		return nil, nil, fmt.Errorf("train: run %s: run.measure_every is %d; wanted at least 1", short(hash), every)
	}
	if trained, err = lab.MissingSteps(hash, rateKey, 1, 1, last); err != nil {
		return nil, nil, err
	}
	first := every
	if c.Run.MeasureStart && last > 0 { // the rows of epoch 0 are stored with those of epoch 1
		first = 0
	}
	if measured, err = lab.MissingSteps(hash, lossKey, first, every, last); err != nil {
		return nil, nil, err
	}
	if last == int64(c.Run.Epochs) && last%every != 0 {
		end, err := lab.MissingSteps(hash, lossKey, last, last, last)
		if err != nil {
			return nil, nil, err
		}
		measured = append(measured, end...)
	}
	return trained, measured, nil
}

// Reach returns the last epoch, at most upTo, up to which the lab has the rows of a run of configuration c without a gap, and the
// first gap if there is one before that. Rows up to epoch elsewhere are in another lab.
func Reach(lab *store.Reader, hash string, c Config, elsewhere, upTo int) (whole int, gap string, err error) {
	trained, measured, err := missing(lab, hash, c, upTo)
	if err != nil {
		return 0, "", err
	}
	reached, gap := store.Reach(int64(elsewhere), int64(max(0, min(upTo, c.Run.Epochs))), trained, measured)
	return int(reached), gap, nil
}
