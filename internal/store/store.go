// Package store keeps a lab: what was computed, with which configuration, by which program, and every resulting number, in one
// SQLite file next to a directory per run.
//
// lab.go opens a lab; identity.go says when two runs are the same run; lease.go lets one process at a time do the work; values.go
// holds the numbers. docs/lab.md describes the lab for users of other tools.
package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind is the kind of computation that a run is.
type Kind string

// The kinds of run.
const (
	Train     Kind = "train"
	Solve     Kind = "solve"
	Dilation  Kind = "dilation"
	Landscape Kind = "landscape"
	Measure   Kind = "measure"
	Trial     Kind = "trial"
	Script    Kind = "script" // a user's own trainer
)

func (k Kind) known() bool {
	return slices.Contains([]Kind{Train, Solve, Dilation, Landscape, Measure, Trial, Script}, k)
}

// Status is the state of a run.
type Status string

// The states of a run. A run whose process was killed stays Running until another process leases it.
const (
	Pending     Status = "pending"
	Running     Status = "running"
	Done        Status = "done"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
)

// Program is what the bits of a result depend on besides the configuration.
type Program struct {
	Version string // of collapse
	Kernel  string // kernel.Name()
	GOOS    string
	GOARCH  string
	GOAMD64 string // "" on other architectures
	CPU     string // model name, for people
}

// Spec asks for a run.
type Spec struct {
	Kind    Kind
	Config  any      // an object, as Canonical takes it, without fields at their default
	Label   string   // for people; not part of the identity
	Tags    []string // for people and filters; not part of the identity
	Program Program
}

// Run is the row of one run.
type Run struct {
	Hash       string // 64 hexadecimal digits: the identity
	Kind       Kind
	Config     []byte // canonical JSON
	Status     Status
	Error      string // why it failed, or that a user stopped it; "" unless Failed or Cancelled
	Label      string
	Tags       []string // sorted
	Program    Program  // of the last process that leased it
	Generation int64    // counts leases
	HasEpochs  bool     // whether AppendEpoch was ever called
	LastEpoch  int64    // the newest epoch with rows in the lab; valid if HasEpochs
	Created    time.Time
	Started    time.Time // of the last lease; zero if none
	Finished   time.Time // zero unless Done, Failed or Interrupted
}

// ErrDone is returned by Lease for a run that has finished.
var ErrDone = errors.New("store: the run is done")

// ErrLost is returned for a write through a lease that another process has since taken over.
var ErrLost = errors.New("store: another process has taken the run over")

// HeldError is returned by Lease, Remove and the like for a run that a living process works on.
type HeldError struct {
	Hash      string
	Host      string
	PID       int
	Heartbeat time.Time // its last sign of life
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("store: run %.12s is being worked on by process %d on %s (last heard from at %s)",
		e.Hash, e.PID, e.Host, e.Heartbeat.Format(time.TimeOnly))
}

// NotFoundError is returned when no run's hash starts with Prefix.
type NotFoundError struct{ Prefix, Dir string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("store: the lab %s has no run %q; `collapse runs list` shows what it has", e.Dir, e.Prefix)
}

// IsNotFound reports whether an error says that the lab lacks a run.
func IsNotFound(err error) bool {
	var missing *NotFoundError
	return errors.As(err, &missing)
}
