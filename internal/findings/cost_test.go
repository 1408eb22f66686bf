package findings

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// foreseen counts 10 training samples and 5 evaluated ones an epoch through a network of 100 multiply-adds.
func foreseen(_ string, epochs int) (train.Outlook, error) {
	n := int64(epochs)
	return train.Outlook{MACs: 100, Trained: 10 * n, Forward: 5 * n}, nil
}

const flopOfEpoch = 2 * 100 * (3*10 + 5)

// withValues is a run with these values and no others.
func withValues(t *testing.T, r judge.Run, values []store.Value) judge.Run {
	t.Helper()
	out, err := judge.NewRun(r.Run, values)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func spending(t *testing.T, seconds ...float64) judge.Run {
	t.Helper()
	r := judgetest.Common().Run(t, "ce", 0, 1)
	values := []store.Value{}
	for i, s := range seconds {
		values = append(values, store.Value{Key: train.SpentKey, Step: int64(i + 1), Value: s},
			store.Value{Key: store.Key{Series: "epoch", Split: "train", Measure: "loss"}, Step: int64(i + 1), Value: 1})
	}
	return withValues(t, r, values)
}

func TestCountByHand(t *testing.T) {
	noted := spending(t, 1800, 5400)
	old := judgetest.Common().Run(t, "ls", 0, 1)
	failed := spending(t, 3600)
	failed.Status, failed.Finished = store.Failed, failed.Started.Add(time.Hour)
	never := spending(t)
	never.Status = store.Pending
	c := Count([]judge.Run{noted, old, failed, never}, false, foreseen)
	if want := (2 + 20 + 1) * float64(flopOfEpoch); c.FLOP != want || c.Runs != 3 || c.OneThread != 1 || c.Unknown != 0 || c.Continued != 0 {
		t.Errorf("%+v, by hand %v FLOP of 3 runs", c, want)
	}
	if want := 0.5 + 1.5 + 1.5/3600 + 1; !(math.Abs(c.CoreHours-want) < 1e-9) {
		t.Errorf("%v core-hours, by hand %v", c.CoreHours, want)
	}
	for _, want := range []string{"161\u00a0kFLOP", "3.00 core-hours in 3 runs that finished an epoch", "the threads of 1 run were not recorded", "At least"} {
		if !strings.Contains(c.Sentence(), want) {
			t.Errorf("%q lacks %q", c.Sentence(), want)
		}
	}
	whole := Count([]judge.Run{noted}, false, foreseen)
	if strings.Contains(whole.Sentence(), "At least") {
		t.Error(whole.Sentence())
	}
}

// In a search a run that went on from another holds its FLOP; time is what each took itself.
func TestCountOfASearch(t *testing.T) {
	of := func(epochs, lr string, n int) judge.Run {
		r := spending(t, make([]float64, n)...)
		r.Config = []byte(`{"optim":{"lr":` + lr + `},"run":{"epochs":` + epochs + `}}`)
		if n == 0 {
			return r
		}
		return withValues(t, r, []store.Value{{Key: store.Key{Series: "epoch", Measure: "lr"}, Step: int64(n)}, {Key: train.SpentKey, Step: int64(n), Value: 36}})
	}
	runs := []judge.Run{of("3", "0.1", 3), of("9", "0.1", 9), of("3", "0.2", 3)}
	for searched, want := range map[bool]float64{true: 12 * flopOfEpoch, false: 15 * flopOfEpoch} {
		c := Count(runs, searched, foreseen)
		if c.FLOP != want || !(math.Abs(c.CoreHours-0.03) < 1e-12) || c.Runs != 3 {
			t.Errorf("searched %v: %+v, by hand %v FLOP", searched, c, want)
		}
		if strings.Contains(c.Sentence(), "counts its epochs once") != searched {
			t.Error(c.Sentence())
		}
	}
}

func TestCountSaysWhatItDoesNotKnow(t *testing.T) {
	known := 0
	wider := spending(t, 1)
	wider.Settings["net.width"] = "9"
	c := Count([]judge.Run{spending(t, 1), wider}, false, func(hash string, epochs int) (train.Outlook, error) {
		if known++; known == 1 {
			return foreseen(hash, epochs)
		}
		return train.Outlook{}, errors.New("no file mnist, 100 % sure\ntry this")
	})
	if c.FLOP != flopOfEpoch || c.Unknown != 1 || !strings.Contains(c.Sentence(), "the FLOP of 1 run are not known (no file mnist, 100 % sure)") {
		t.Errorf("%+v: %s", c, c.Sentence())
	}
	r := spending(t, 1)
	r.Settings["optim.kind"] = "lbfgs"
	if c = Count([]judge.Run{r}, false, foreseen); c.LBFGS != 1 || !strings.Contains(c.Sentence(), "for L-BFGS (1 run) one evaluation per step") {
		t.Errorf("%+v", c)
	}
	c = Compute{Runs: 1, Unknown: 1}
	if !strings.Contains(c.Sentence(), "An unknown number of FLOP") || len(c.tiles()) != 1 {
		t.Error(c.Sentence())
	}
	if c = (Compute{}); strings.Contains(c.Sentence(), "FLOP") || c.tiles() != nil { // a study of scripts
		t.Error(c.Sentence())
	}
}

func TestCoreTime(t *testing.T) {
	for hours, want := range map[float64]string{0: "0 core-seconds", 0.005: "18.0 core-seconds", 0.5: "0.500 core-hours", 1200: "1200 core-hours"} {
		if value, unit := coreTime(hours); value+" "+unit != want {
			t.Errorf("%g hours: %s %s, wanted %q", hours, value, unit, want)
		}
	}
}
