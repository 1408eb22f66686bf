package cli

import (
	"io"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/train"
)

// trainProgress shows one run: a bar on a terminal, elsewhere a line per measured epoch.
type trainProgress struct {
	w      io.Writer
	bar    *bar // nil away from a terminal
	epochs int
	nc1    float64 // last measured
}

func (p *trainProgress) Started(s train.Started) {
	p.epochs = s.Epochs
	safetext.Fprintf(p.w, "run %.12s: %d training and %d test samples, %d parameters, about %d MB in addition to the images, kernel %s, %d threads\n",
		s.Run, s.TrainSamples, s.TestSamples, s.Parameters, s.Memory.Total()>>20, s.Kernel, s.Threads)
	if s.FirstEpoch > 1 {
		safetext.Fprintf(p.w, "resuming at epoch %d of %d\n", s.FirstEpoch, s.Epochs)
	}
	if onTerminal(p.w) {
		p.bar = newBar(p.w, int64(s.Epochs), "epoch")
		p.bar.set(int64(s.FirstEpoch-1), "")
	}
}

func (p *trainProgress) Step(s train.StepDone) {
	p.bar.set(int64(s.Epoch-1), "loss %s  acc %.2f %%  NC1 %s  %.0f images/s%s",
		format.Digits(s.Loss), 100*s.Accuracy, format.Digits(p.nc1), s.ImagesPerSecond, timeLeft(s.Left))
}

func (p *trainProgress) Epoch(e train.EpochDone) {
	if e.Measured {
		p.nc1 = e.NC1
	}
	if p.bar != nil {
		p.bar.set(int64(e.Epoch), "loss %s  acc %.2f %%  NC1 %s  %.0f images/s%s",
			format.Digits(e.RunningLoss), 100*e.RunningAccuracy, format.Digits(p.nc1), e.ImagesPerSecond, timeLeft(e.Left))
		return
	}
	if !e.Measured {
		return
	}
	safetext.Fprintf(p.w, "epoch %d/%d  loss %s  acc %.2f %%  test acc %.2f %%  NC1 %s  %.0f images/s%s\n",
		e.Epoch, p.epochs, format.Digits(e.TrainLoss), 100*e.TrainAccuracy, 100*e.TestAccuracy, format.Digits(e.NC1), e.ImagesPerSecond, timeLeft(e.Left))
}

func (p *trainProgress) Note(text string) { safetext.Fprintf(p.w, "%s\n", text) }

func (p *trainProgress) close() { p.bar.close() }
