package forecast

import (
	"collapse.example/collapse/internal/train"
)

// Runs predicts what runs of a lab take, by hash and number of epochs, from the configurations in their folders, once for all runs
// that differ only in settings that change no shape. dir is the folder of the data sets; "" means the one that a run names, or the
// environment's.
func Runs(lab interface{ RunDir(hash string) string }, dir string) func(hash string, epochs int) (train.Outlook, error) {
	known := map[string]train.Outlook{}
	return func(hash string, epochs int) (train.Outlook, error) {
		c, err := train.ConfigOf(lab.RunDir(hash))
		if err != nil {
			return train.Outlook{}, err
		}
		c.Run.Epochs = epochs
		if dir != "" {
			c.Data.Dir = dir
		}
		o, err := outlook(c, known)
		if err != nil && c.Data.Dir != "" { // from another machine
			c.Data.Dir = ""
			o, err = outlook(c, known)
		}
		return o, err
	}
}
