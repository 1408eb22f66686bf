package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// Recording is a run of numbers that were computed elsewhere: a user's own model, measured epoch by epoch.
type Recording struct {
	Name   string // identifies the run: recording it again replaces it
	epochs []recorded
}

type recorded struct {
	epoch  int
	values values
}

// HistoryError says what is wrong with a line of a history.
type HistoryError struct {
	Line int
	Err  error
}

func (e *HistoryError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *HistoryError) Unwrap() error { return e.Err }

// ReadHistory reads lines such as {"epoch": 3, "values": {"train/nc1_pinv": 0.5}}, whose epochs rise.
func ReadHistory(name string, from io.Reader) (*Recording, error) {
	r := &Recording{Name: name}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	names := map[string]bool{}
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		e, err := decodeEvent(lines.Bytes(), `{"epoch": 3, "values": {"test/loss": 0.5}}`)
		if err == nil && (e.Generation != nil || e.Run != "" || e.Done || e.Features != nil) {
			err = errors.New("a history has an epoch and values alone")
		}
		if err == nil {
			err = e.checkValues()
		}
		for name := range e.Values {
			names[name] = true
		}
		if err == nil && len(names) > mostNames {
			err = fmt.Errorf("the history has more than %d names of values", mostNames)
		}
		if err == nil {
			found := values{}
			found.reported(e.Values)
			err = r.add(e.Epoch, found)
		}
		if err != nil {
			return nil, &HistoryError{n, err}
		}
	}
	return r, lines.Err()
}

// Measured adds what was measured on the train samples of an epoch.
func (r *Recording) Measured(epoch int, report *measure.Report) error {
	found := values{}
	measurer{into: found}.file(trainSplit, "", report)
	return r.add(epoch, found)
}

func (r *Recording) add(epoch int, found values) error {
	if n := len(r.epochs); epoch < 0 || n > 0 && epoch <= r.epochs[n-1].epoch {
		last := "none"
		if n > 0 {
			last = fmt.Sprint(r.epochs[n-1].epoch)
		}
		return fmt.Errorf("epoch %d comes after epoch %s; wanted epochs that rise from 0 or more", epoch, last)
	}
	r.epochs = append(r.epochs, recorded{epoch, found})
	return nil
}

// Save writes the recording into the lab, replacing an older one of the same name, and returns the run's hash.
func (r *Recording) Save(lab *store.Lab) (hash string, err error) {
	if strings.TrimSpace(r.Name) == "" {
		return "", errors.New("a recording needs a name")
	}
	if len(r.epochs) == 0 {
		return "", fmt.Errorf("%s: there is no epoch to record", r.Name)
	}
	lease, _, err := lab.Again(store.Spec{Kind: store.Measure, Config: map[string]any{"name": r.Name}, Label: r.Name, Program: train.ThisProgram()})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lease.Interrupt()) }()
	rows := make([]store.EpochRows, len(r.epochs))
	for i, e := range r.epochs {
		rows[i].Epoch = int64(e.epoch)
		for _, v := range e.values {
			v.Step = int64(e.epoch)
			rows[i].Rows = append(rows[i].Rows, v)
		}
	}
	if err := lease.AppendEpochs(rows); err != nil {
		return "", err
	}
	return lease.Hash, lease.Finish()
}

// Epochs is the number of epochs in a recording.
func (r *Recording) Epochs() int { return len(r.epochs) }
