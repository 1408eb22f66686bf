package study

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"collapse.example/collapse/internal/train"
)

// subject is what computes the runs of a study's file: training by this program (trainings), or a user's script
// (scripts, in trainer.go). Settings are "key=value" with the value as TOML; if a key occurs twice, the last one counts.
type subject interface {
	// check reports what is wrong with settings that several runs share, as a *train.ConfigError.
	check(settings []string) error
	// checkOne is check for the settings of one run; of the keys without effect it reports only key.
	checkOne(key string, settings []string) error
	// item turns the run with these settings into an item of the study.
	item(settings []string, note string) (Item, error)
	// trial returns a run of a place of a search, without the part of the payload that describes the search.
	trial(c *Place, t Trial) (item Item, epochs int, err error)
	// search completes a search from the file's base, and returns the base's epochs and how many epochs lie between
	// measurements, unless something is wrong with it.
	search(d *Search, f *File, bad *FileError) (epochs, every int, ok bool)
}

// trainings are runs of training by this program.
type trainings struct{}

func (trainings) check(settings []string) error {
	_, err := train.LoadShared(settings...)
	return err
}

func (t trainings) checkOne(key string, settings []string) error {
	var all *train.ConfigError
	if _, err := train.Load("", nil, settings...); errors.As(err, &all) {
		if i := slices.IndexFunc(all.Problems, func(p train.Problem) bool { return p.Key == key }); i >= 0 {
			return &train.ConfigError{Problems: all.Problems[i : i+1]}
		}
	}
	return t.check(settings)
}

func (trainings) item(settings []string, note string) (Item, error) {
	cfg, err := train.LoadShared(settings...)
	if err != nil {
		return Item{}, err
	}
	return TrainItem(cfg, note)
}

func (trainings) trial(c *Place, t Trial) (Item, int, error) {
	cfg, err := c.Config(t)
	if err != nil {
		return Item{}, 0, err
	}
	t.Epochs = cfg.Run.Epochs
	item, err := TrainItem(cfg, t.note())
	return item, cfg.Run.Epochs, err
}

func (trainings) search(d *Search, f *File, bad *FileError) (epochs, every int, ok bool) {
	d.Metric = cmp.Or(d.Metric, "validation.accuracy")
	if strings.HasPrefix(d.Metric, "validation.") && !slices.ContainsFunc(f.base, func(s string) bool { return strings.HasPrefix(s, "data.validation=") }) {
		f.base = append(f.base, "data.validation=0.2")
	}
	base, err := train.LoadShared(f.base...)
	if err != nil {
		bad.add("[base] %v", err)
		return 0, 0, false
	}
	return base.Run.Epochs, base.Run.MeasureEvery, true
}
