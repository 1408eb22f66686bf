package train

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a configuration. Line is 0 when the key came from a flag or from code.
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

// DivergedError stops a run whose loss is no longer finite. The run is marked failed; its checkpoints stay.
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

// InterruptedError reports a run that was stopped by its context after a whole step. Nothing but the epoch under way is lost.
type InterruptedError struct {
	Run        string // the run's hash
	Epoch      int    // last epoch that is kept, 0 for none
	Checkpoint string // its folder, empty for none
	Cause      error  // the context's error
}

func (e *InterruptedError) Error() string {
	kept := "no epoch was finished yet"
	if e.Epoch > 0 {
		kept = fmt.Sprintf("epoch %d is kept in %s", e.Epoch, e.Checkpoint)
	}
	return fmt.Sprintf("train: interrupted; %s; go on with: collapse train --resume %s", kept, short(e.Run))
}

// Unwrap gives the context's error.
func (e *InterruptedError) Unwrap() error { return e.Cause }

// MachineError refuses to resume where the same bits can not be promised.
type MachineError struct {
	Run       string
	Was, Here Machine
}

func (e *MachineError) Error() string {
	return fmt.Sprintf("train: run %s was started with %s; this program has %s, so its bits would differ; resume on the first, "+
		"force its kernel with COLLAPSE_KERNEL=%s, or accept the change with --allow-kernel-change (it is recorded)",
		short(e.Run), e.Was, e.Here, e.Was.Kernel)
}

// FailedError says that the lab holds this configuration as failed: the same configuration would fail at the same step again.
type FailedError struct {
	Run string
	Why string
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("train: run %s failed before, and would fail the same way: %s; change the configuration, or compute it anew with --again",
		short(e.Run), strings.TrimPrefix(e.Why, "train: "))
}

func short(hash string) string { return hash[:min(len(hash), 12)] }
