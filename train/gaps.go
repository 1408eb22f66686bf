package train

import (
	"fmt"

	"collapse/internal/store"
)

// Rows that say which epochs a lab has: rateKey is written after every epoch, lossKey after every measured one.
var (
	rateKey = store.Key{Series: seriesEpoch, Measure: "lr"}
	lossKey = store.Key{Series: seriesEpoch, Split: splitTest, Measure: "loss"}
)

// Gaps lists the epochs up to upTo of which a run of configuration c should have rows in the lab and has none: every epoch has rows of
// training, the measured ones (run.measure_every, and the last) rows of measures, too. A finished run has no gaps up to its last epoch.
func Gaps(lab *store.Reader, hash string, c Config, upTo int) ([]store.Span, error) {
	last, every := int64(min(upTo, c.Run.Epochs)), int64(c.Run.MeasureEvery)
	if every < 1 || last < 0 {
		return nil, fmt.Errorf("train: run %s: a configuration with run.measure_every = %d and run.epochs = %d has no epochs to look for",
			short(hash), c.Run.MeasureEvery, c.Run.Epochs)
	}
	gaps, err := lab.MissingSteps(hash, rateKey, 1, last)
	if err != nil || len(gaps) > 0 {
		return gaps, err
	}
	if gaps, err = lab.MissingSteps(hash, lossKey, every, last); err != nil {
		return nil, err
	}
	if last == int64(c.Run.Epochs) && last%every != 0 {
		end, err := lab.MissingSteps(hash, lossKey, last, last)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, end...)
	}
	return gaps, nil
}
