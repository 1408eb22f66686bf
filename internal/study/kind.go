package study

import (
	"context"
	"errors"
	"fmt"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// Kind computes one kind of run from an Item's payload.
type Kind interface {
	// Compute computes the run in lab, continuing from what is there, and returns nil once the run is done in the lab.
	// It also checks that payload gives the identity hash on this machine.
	//
	// An error marked by queue.Fail means that the run itself cannot be done; one marked by queue.Postpone, that another
	// process computes it. Any other error ends this attempt; MachineTrouble tells which of them are not the fault of the
	// run. The end of the context is passed on.
	Compute(ctx context.Context, lab *store.Lab, hash, payload string, env Env) error
	// Begin makes the run's first checkpoint in lab from that of the run that payload says it continues, and returns its
	// epoch: 0 if the run has to start at the beginning, or is done.
	Begin(ctx context.Context, lab *store.Lab, payload string) (epoch int64, err error)
	// Epochs is the number of epochs of a run, 0 if payload does not say.
	Epochs(payload string) int64
	// Reach returns the last epoch, at most upTo and the run's own last, up to which lab has the rows of a run without a
	// gap, and the first gap if there is one before that. Rows up to epoch elsewhere are in another lab and count as
	// present. For a run that lab does not know, the result is elsewhere, at most upTo, without a gap.
	Reach(lab *store.Reader, hash string, elsewhere, upTo int64) (whole int64, gap string, err error)
	// CheckFiles returns an error unless dir has the files that a finished run leaves.
	CheckFiles(lab *store.Reader, hash, dir string) error
	// Headline says in a few words how a finished run came out.
	Headline(lab *store.Reader, hash string) string
}

// Env is what a Kind computes with, and the functions it reports to, which are never nil.
type Env struct {
	Team     *parallel.Team
	Engines  *engine.Pool      // for runs that another process computes; nil: this machine can do none of those
	Ensemble train.Ensemble    // how many of those may be computed in one batch
	Started  func(from int64)  // the run starts after epoch from; later epochs in the lab are void
	Saved    func(epoch int64) // rows up to epoch, and what is needed to continue, are safely stored
	Progress func(Progress)
	Note     func(string) // something the user may want to know, such as why the run does not continue from its newest checkpoint

	// StartOver says that several machines share the run: if one finds another's checkpoint unusable, it starts from the beginning.
	StartOver bool
	// RowsElsewhere is the epoch up to which the run's rows are in another lab.
	RowsElsewhere int64

	// Scripts is the folder with the code of scripts that may be started; "": none may.
	Scripts string
}

// Progress is how far a run has got.
type Progress struct {
	Epoch  int    `json:"epoch"`
	Epochs int    `json:"epochs"`
	Text   string `json:"text,omitempty"` // such as "acc 97.1 %"
}

// kinds are the kinds of run that a study can have.
var kinds = map[store.Kind]Kind{store.Train: &trainKind{}, store.Script: &scriptKind{}, simulated: &simulatedKind{}}

// KindOf returns a kind of run, or nil if this program does not know it.
func KindOf(kind store.Kind) Kind { return kinds[kind] }

// KindNamed is KindOf for a job from the queue. It returns an error if this program does not know the kind.
func KindNamed(name string) (Kind, error) {
	k := KindOf(store.Kind(name))
	if k == nil {
		return nil, queue.Fail(fmt.Errorf("study: this program cannot compute runs of kind %q", name))
	}
	return k, nil
}

// trainKind is training.
type trainKind struct{}

func (*trainKind) Compute(ctx context.Context, lab *store.Lab, hash, payload string, env Env) error {
	cfg, err := train.Load("job", []byte(payload))
	if err != nil {
		return queue.Fail(err)
	}
	var config *train.ConfigError
	here, _, err := train.Identify(cfg, OpenSet)
	if err != nil && !errors.As(err, &config) {
		return &MachineError{Err: err} // its data are missing on this machine
	}
	if err != nil {
		return err
	}
	if here != hash {
		return &MachineError{Err: fmt.Errorf("study: the data of this machine differ from the coordinator's: the configuration is run %.12s there and %.12s here; "+
			"`collapse data check` on both shows which set", hash, here)}
	}
	_, err = train.Run(ctx, cfg, lab, train.Options{Team: env.Team, From: TrialOf(payload).From, Sink: trainSink{env, cfg.Run.Epochs}, Open: OpenSet,
		RowsElsewhere: int(env.RowsElsewhere), Engines: env.Engines, Ensemble: env.Ensemble, StartOver: env.StartOver})
	var diverged *train.DivergedError
	var failed *train.FailedError
	var held *store.HeldError
	switch {
	case errors.As(err, &diverged), errors.As(err, &failed), errors.As(err, &config):
		return queue.Fail(err)
	case errors.As(err, &held):
		return queue.Postpone(err)
	case train.EngineTrouble(err):
		return &MachineError{Err: err}
	}
	return err
}

func (*trainKind) Begin(ctx context.Context, lab *store.Lab, payload string) (int64, error) {
	cfg, err := train.Load("job", []byte(payload))
	if err != nil {
		return 0, err
	}
	team := parallel.NewTeam(1)
	defer team.Close()
	// A run that is stopped before its first step has only taken over the other run's checkpoint and rows.
	stopped, stop := context.WithCancel(ctx)
	stop()
	_, err = train.Run(stopped, cfg, lab, train.Options{Team: team, From: TrialOf(payload).From, Open: OpenSet})
	var interrupted *train.InterruptedError
	if errors.As(err, &interrupted) {
		return int64(interrupted.Epoch), nil
	}
	return 0, err
}

func (*trainKind) Epochs(payload string) int64 {
	cfg, err := train.Load("job", []byte(payload))
	if err != nil {
		return 0
	}
	return int64(cfg.Run.Epochs)
}

// configOf returns the configuration of a training run in the lab.
func configOf(lab *store.Reader, hash string) (train.Config, error) {
	run, err := lab.Run(hash)
	if err != nil {
		return train.Config{}, err
	}
	return train.FromCanonical(run.Config)
}

func (*trainKind) Reach(lab *store.Reader, hash string, elsewhere, upTo int64) (int64, string, error) {
	cfg, err := configOf(lab, hash)
	if store.IsNotFound(err) {
		return min(elsewhere, upTo), "", nil
	}
	if err != nil {
		return 0, "", err
	}
	whole, gap, err := train.Reach(lab, hash, cfg, int(elsewhere), int(upTo))
	return int64(whole), gap, err
}

func (*trainKind) CheckFiles(lab *store.Reader, hash, dir string) error {
	cfg, err := configOf(lab, hash)
	if err != nil {
		return err
	}
	return train.CheckFolder(dir, hash, cfg.Run.Epochs)
}

func (*trainKind) Headline(lab *store.Reader, hash string) string {
	last := func(split, measure string) string {
		points, err := lab.Series(hash, store.Key{Series: "epoch", Split: split, Measure: measure})
		if err != nil || len(points) == 0 || points[len(points)-1].Missing != "" {
			return "–"
		}
		return fmt.Sprintf("%.4g", points[len(points)-1].Value)
	}
	return fmt.Sprintf("NC1 %s, test accuracy %s", last("train", "nc1_pinv"), last("test", "accuracy"))
}

// trainSink translates a training run's events into those of a study.
type trainSink struct {
	env    Env
	epochs int
}

func (s trainSink) Started(e train.Started) {
	s.env.Started(int64(e.FirstEpoch) - 1)
	s.env.Progress(Progress{Epoch: e.FirstEpoch - 1, Epochs: s.epochs})
}
func (s trainSink) Step(train.StepDone) {}
func (s trainSink) Note(text string)    { s.env.Note(text) }
func (s trainSink) Epoch(e train.EpochDone) {
	s.env.Saved(int64(e.Epoch))
	s.env.Progress(Progress{Epoch: e.Epoch, Epochs: s.epochs, Text: fmt.Sprintf("acc %.1f %%", 100*e.RunningAccuracy)})
}
