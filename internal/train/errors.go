package train

import (
	"errors"
	"fmt"
	"strings"

	"collapse.example/collapse/internal/engine"
)

// Problem is one thing that is wrong with a configuration. Line is 0 if the key came from a flag or from code.
type Problem struct {
	Line    int
	Key     string // as the user writes it: optim.lr
	Message string
}

// ConfigError reports every problem of a configuration at once, in the order of the file.
type ConfigError struct {
	File     string // as the user named it; empty without a file
	Problems []Problem
}

// Error has one line per problem: where, what was found, what was wanted, what to try.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		where := ""
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d: ", e.File, p.Line)
		}
		if p.Key != "" {
			where += p.Key + ": "
		}
		lines[i] = where + p.Message
	}
	return strings.Join(lines, "\n")
}

// DivergedError ends a run whose loss is no longer finite. The run is marked failed; its checkpoints stay.
type DivergedError struct {
	Step     int64   // counted from 0 over the whole run
	Epoch    int     // counted from 1
	Loss     float64 // NaN or an infinity
	LastGood float64 // the loss of the step before
	HasLast  bool    // false when the first step of the run already failed
	LR       float64 // the learning rate in use
	Hint     string  // what to try
}

func (e *DivergedError) Error() string {
	before := "it was the first step"
	if e.HasLast {
		before = fmt.Sprintf("%.6g at step %d", e.LastGood, e.Step-1)
	}
	return fmt.Sprintf("train: step %d (epoch %d): loss is %v (%s); %s; optim.lr is %g", e.Step, e.Epoch, e.Loss, before, e.Hint, e.LR)
}

// InterruptedError reports a run that its context stopped after a complete step. What came after its last checkpoint is lost.
type InterruptedError struct {
	Run        string // the run's hash
	Epoch      int    // last epoch with a checkpoint, 0 for none
	Checkpoint string // its folder, empty for none
	Cause      error  // the context's error
}

func (e *InterruptedError) Error() string {
	kept := "it has no checkpoint yet"
	if e.Epoch > 0 {
		kept = fmt.Sprintf("epoch %d is kept in %s", e.Epoch, e.Checkpoint)
	}
	return fmt.Sprintf("train: interrupted; %s; continue with: collapse train --resume %s", kept, short(e.Run))
}

// Unwrap returns the context's error.
func (e *InterruptedError) Unwrap() error { return e.Cause }

// MachineError refuses to resume where identical bits cannot be guaranteed.
type MachineError struct {
	Run       string
	Was, Here Machine
	Engine    string // run.engine
}

func (e *MachineError) Error() string {
	again := "resume on the first"
	if e.Engine != engineTorch {
		again += ", force its kernel with COLLAPSE_KERNEL=" + e.Was.Kernel
	}
	return fmt.Sprintf("train: run %s was started with %s; this program has %s, so its bits would differ; %s, or accept the change with --allow-kernel-change (it is recorded)",
		short(e.Run), e.Was, e.Here, again)
}

// DeviceMemoryError refuses a run that would not fit into the memory of an engine's device.
type DeviceMemoryError struct {
	Device     string
	Need, Free int64 // bytes
	Batch      int
}

func (e *DeviceMemoryError) Error() string {
	return fmt.Sprintf("train: the run needs about %s on %s, and %s are free there; lower run.batch (%d), use another --device, or start it anyway with --ignore-memory",
		megabytes(e.Need), e.Device, megabytes(e.Free), e.Batch)
}

// EngineTrouble reports whether an error is about this machine rather than the run: no PyTorch, no such device, too little memory on
// it, or an engine whose numbers differ from ours.
func EngineTrouble(err error) bool {
	var missing *engine.MissingError
	var device *engine.DeviceError
	var memory *DeviceMemoryError
	var audit *AuditError
	var said *engine.Error
	return errors.Is(err, errNoEngines) || errors.As(err, &missing) || errors.As(err, &device) || errors.As(err, &memory) || errors.As(err, &audit) ||
		errors.As(err, &said) && said.Kind == engine.Memory
}

// FailedError says that this configuration is marked failed in the lab: it would fail at the same step again.
type FailedError struct {
	Run string
	Why string
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("train: run %s failed before, and would fail the same way: %s; change the configuration, or compute it again with --again",
		short(e.Run), strings.TrimPrefix(e.Why, "train: "))
}

func short(hash string) string { return hash[:min(len(hash), 12)] }
