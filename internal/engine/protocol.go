// Package engine runs a process that trains networks for this program, such as PyTorch on a GPU: it starts the process, sends it
// orders, checks its answers, and exchanges arrays with it through files. It knows nothing about runs, epochs or measures;
// internal/train decides which orders are sent.
//
// See protocol.go for the messages, process.go for managing a process, files.go for the arrays, python.go for finding PyTorch.
// docs/internal/engines.md has the whole contract.
package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall"
)

// Protocol is the version of the contract that this program speaks. Engines that speak the first one compute each run alone.
const (
	Protocol  = "collapse-engine 2"
	protocol1 = "collapse-engine 1"
)

// maxLine bounds a line in either direction, in bytes.
const maxLine = 1 << 20

// Hello is an engine's first message.
type Hello struct {
	Protocol string   `json:"protocol"`
	Engine   string   `json:"engine"`  // torch
	Version  string   `json:"version"` // of the package that answers
	Torch    string   `json:"torch"`
	CUDA     string   `json:"cuda"`
	CuDNN    string   `json:"cudnn"`
	Devices  []Device `json:"devices"`
}

// Device is something that an engine can compute on.
type Device struct {
	Name  string `json:"name"`  // cpu, cuda:0, mps
	Title string `json:"title"` // for people
	Bytes int64  `json:"bytes"` // of memory; 0: not known
}

// Device returns the device with that name; without a name, the first device other than the CPU, or else the CPU. The error is a
// *DeviceError.
func (h Hello) Device(name string) (Device, error) {
	var names []string
	for _, d := range h.Devices {
		if d.Name == name || name == "" && d.Name != "cpu" {
			return d, nil
		}
		names = append(names, d.Name)
	}
	if name == "" && len(h.Devices) > 0 {
		return h.Devices[0], nil
	}
	return Device{}, &DeviceError{Engine: h.Title(), Name: name, There: names}
}

// DeviceError says that an engine does not have a device.
type DeviceError struct {
	Engine, Name string
	There        []string
}

func (e *DeviceError) Error() string {
	return fmt.Sprintf("engine: %s has no device %q here; --device takes %s", e.Engine, e.Name, strings.Join(e.There, ", "))
}

// Title returns the engine and its version, such as "torch 2.11.0+cu130".
func (h Hello) Title() string { return strings.TrimSpace(h.Engine + " " + h.Torch) }

func (h Hello) check() error {
	switch {
	case h.Protocol != Protocol && h.Protocol != protocol1:
		return fmt.Errorf("it speaks %.100q, and this program %q", h.Protocol, Protocol)
	case h.Engine == "" || len(h.Devices) == 0:
		return errors.New("its first words name no engine or no device")
	}
	return nil
}

// Number is a float64 that may be NaN or infinite, which JSON cannot express as a number.
type Number float64

// MarshalJSON writes "nan", "inf" and "-inf" as texts.
func (n Number) MarshalJSON() ([]byte, error) {
	switch x := float64(n); {
	case math.IsNaN(x):
		return []byte(`"nan"`), nil
	case math.IsInf(x, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-inf"`), nil
	default:
		return json.Marshal(x)
	}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"nan"`:
		*n = Number(math.NaN())
	case `"inf"`:
		*n = Number(math.Inf(1))
	case `"-inf"`:
		*n = Number(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(n))
	}
	return nil
}

// Open is the order that begins a run.
type Open struct {
	Run       string   `json:"run"`
	Dir       string   `json:"dir"` // absolute; all other paths are names in it
	Device    string   `json:"device"`
	Threads   int      `json:"threads"`
	DType     string   `json:"dtype"`
	Precision string   `json:"precision"`
	Seed      uint64   `json:"seed"`
	Classes   int      `json:"classes"`
	Inputs    int      `json:"inputs"`
	Net       any      `json:"net"`
	Loss      any      `json:"loss"`
	Decay     any      `json:"decay"`
	Optim     any      `json:"optim"`
	Batch     int      `json:"batch"`
	Pad       int      `json:"pad"`
	Frozen    []string `json:"frozen"`
	Taps      []Tap    `json:"taps"`
	Splits    []string `json:"splits"`
	Members   int      `json:"members,omitempty"` // of the ensemble; 0: the run is alone
}

// Tap is a layer whose activations evaluate can return.
type Tap struct {
	Name string `json:"name"`
	Pool string `json:"pool"` // average or flatten
}

// Load and Save name two files of tensors, for the orders load and save.
type Load struct {
	Model string `json:"model"`
	Optim string `json:"optim"`
}

// Epoch is the order to train an epoch. Its files are order.npy and, with Views, views.npy.
type Epoch struct {
	Epoch int     `json:"epoch"`
	LR    float64 `json:"lr"`
	Views bool    `json:"views"`
	Keep  bool    `json:"keep"`
}

// Settle is the order to pass the training set through the network without a step.
type Settle struct {
	Passes  int               `json:"passes"`
	Views   bool              `json:"views"`
	Members []json.RawMessage `json:"members,omitempty"` // of an order for several: the part of each
}

// Evaluate is the order to pass splits through the network in eval mode.
type Evaluate struct {
	Splits  []string `json:"splits"`
	Set     int      `json:"set"` // 0 or 1: which files to write
	Layers  bool     `json:"layers"`
	Samples int      `json:"samples"` // the first samples of a split; 0: all

	Members []json.RawMessage `json:"members,omitempty"` // of an order for several: the part of each
}

// Step is reported after a training step, at most ten times a second. For an order of several members, Members has what Loss and Correct are
// for one.
type Step struct {
	Step    int          `json:"step"` // from 1
	Loss    Number       `json:"loss"` // mean over the epoch so far
	Correct int          `json:"correct"`
	Members []MemberStep `json:"members"`
}

// MemberStep is a member's part in a Step.
type MemberStep struct {
	Member  int    `json:"member"`
	Loss    Number `json:"loss"`
	Correct int    `json:"correct"`
}

// Answer is the answer that ends an order.
type Answer struct {
	Done string `json:"done"`
	// Of open: what the bits depend on, the device memory that the run needs, and how much is free; 0: not known.
	Machine string `json:"machine"`
	Bytes   int64  `json:"bytes"`
	Free    int64  `json:"free"`
	// Of epoch.
	LossSum Number  `json:"loss_sum"`
	Correct int     `json:"correct"`
	Samples int     `json:"samples"`
	Steps   int     `json:"steps"`
	Last    Number  `json:"last"`
	Bad     *Number `json:"bad"`
	// Of evaluate.
	PenaltySquares []Number `json:"penalty_squares"`
	// Of save.
	Model Sum `json:"model"`
	Optim Sum `json:"optim"`
	// Of an order of several members: the answer to each.
	Member  int      `json:"member"`
	Members []Answer `json:"members"`
}

// Sum identifies the content of a file.
type Sum struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Kinds of an Error.
const (
	Refused = "refused" // it cannot do this run
	Memory  = "memory"  // the device has too little memory
	Input   = "input"   // a file or an order is invalid
	Failed  = "failed"  // anything else; the process is gone
)

// Error is an answer saying that an order could not be carried out.
type Error struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Engine  string `json:"-"` // which engine says so
	Stderr  string `json:"-"` // the end of its stderr; "" if the process keeps running
}

func (e *Error) Error() string {
	text := e.Engine + ": " + e.Message
	if e.Kind == Memory {
		text += "; use a smaller run.batch, or another --device"
	}
	return text + indented(e.Stderr)
}

// Unwrap returns the operating system's error if the disk is full, which is not the run's fault.
func (e *Error) Unwrap() error {
	if strings.Contains(e.Message, "No space left on device") {
		return syscall.ENOSPC
	}
	return nil
}

// stays reports whether the process can take another order.
func (e *Error) stays() bool { return e.Kind == Refused || e.Kind == Memory || e.Kind == Input }

// line is one line from an engine: exactly one of its fields is set.
type line struct {
	hello  *Hello
	step   *Step
	answer *Answer
	err    *Error
}

// parseLine reads one line.
func parseLine(text []byte) (l line, err error) {
	var kind struct {
		Hello *Hello
		Error *Error
		Done  *string
		Step  *int
	}
	if err = json.Unmarshal(text, &kind); err == nil {
		switch {
		case kind.Hello != nil:
			l.hello = kind.Hello
		case kind.Error != nil:
			l.err = kind.Error
		case kind.Done != nil:
			err = json.Unmarshal(text, &l.answer)
		case kind.Step != nil:
			err = json.Unmarshal(text, &l.step)
		default:
			err = errors.New("nothing of it is known")
		}
	}
	if err != nil {
		return line{}, fmt.Errorf("it said %.200q, which is not an answer of %s", text, Protocol)
	}
	return l, nil
}
