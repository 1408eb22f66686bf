package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"collapse/internal/queue"
	"collapse/internal/store"
	"collapse/train"
)

// What workers elsewhere send is not trusted: it is checked here against what the run can have. What does not fit is set aside, see
// queue.Coordinator.SetAside; a run that lacks it in the end is computed again.
const (
	longestKey     = 256     // bytes of a series, split, layer or measure
	longestMissing = 4 << 10 // bytes of a reason
	longestLine    = 200     // bytes of a host, a program's description, a progress
	mostEpochs     = 1 << 31 // of a run whose configuration is not known
)

// admit leaves out the messages that cannot be used.
func (e *engine) admit(ctx context.Context, list []queue.Message) []queue.Message {
	var good []queue.Message
	for _, m := range list {
		if err := e.checkMessage(ctx, m); err != nil {
			e.setAside(m, err)
			continue
		}
		good = append(good, m)
	}
	return good
}

func (e *engine) checkMessage(ctx context.Context, m queue.Message) error {
	switch {
	case m.Type == queue.Data && len(m.Data) == 0:
		return errors.New("study: an empty result")
	case m.Type == queue.Data && m.Data[0] == tagBegin:
		if _, err := e.readBegin(m); err != nil {
			return err
		}
		return e.c.Plausible(ctx, m)
	case m.Type == queue.Data && m.Data[0] != tagRows:
		return fmt.Errorf("study: a result that begins with byte %#x", m.Data[0])
	case m.Type == queue.Failed, m.Type == queue.GaveUp:
		return e.c.Plausible(ctx, m)
	}
	return nil
}

func (e *engine) setAside(m queue.Message, why error) {
	e.c.SetAside(fmt.Sprintf("message %d of run %.12s from %s", m.Sequence, m.Job, m.Worker), len(m.Data), why)
}

// readBegin reads the beginning of an attempt at a run.
func (e *engine) readBegin(m queue.Message) (begin, error) {
	b, err := decodeBegin(m.Data[1:])
	if err != nil {
		return b, err
	}
	if most := e.epochsOf(m.Job); b.From < -1 || b.From > most {
		return b, fmt.Errorf("study: an attempt goes on from epoch %d of %d", b.From, most)
	}
	return b, nil
}

// readRows reads the rows of an epoch of a run.
func (e *engine) readRows(m queue.Message) (store.EpochRows, error) {
	rows, err := decodeRows(m.Data[1:])
	if err != nil {
		return rows, err
	}
	if most := e.epochsOf(m.Job); rows.Epoch < 0 || rows.Epoch > most {
		return rows, fmt.Errorf("study: rows of epoch %d; the run has %d", rows.Epoch, most)
	}
	return rows, nil
}

// epochsOf is how many epochs a run has, by its configuration.
func (e *engine) epochsOf(hash string) int64 {
	if n, ok := e.epochs[hash]; ok {
		return n
	}
	e.mu.Lock()
	run := e.open[hash]
	e.mu.Unlock()
	if run == nil || run.Kind != store.Train {
		return mostEpochs
	}
	cfg, err := train.Load("job", []byte(run.Payload))
	if err != nil {
		return mostEpochs
	}
	if e.epochs == nil {
		e.epochs = map[string]int64{}
	}
	e.epochs[hash] = int64(cfg.Run.Epochs)
	return e.epochs[hash]
}

// boundedText returns an error for a text that is too long or not valid UTF-8.
func boundedText(text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return fmt.Errorf("study: the text %q in a result; at most %d bytes of plain text are wanted", queue.Clean(text, 40), most)
	}
	return nil
}

// checkValues refuses rows that no run has, and makes values that are not finite missing, as the lab does.
func checkValues(keys []store.Key, rows []store.Value) error {
	for _, k := range keys {
		if k.Series == "" || k.Measure == "" {
			return errors.New("study: a value without a name")
		}
		for _, text := range []string{k.Series, k.Split, k.Layer, k.Measure} {
			if err := boundedText(text, longestKey); err != nil {
				return err
			}
		}
	}
	for i := range rows {
		v := &rows[i]
		if v.Step < 0 {
			return fmt.Errorf("study: a value at step %d", v.Step)
		}
		if err := boundedText(v.Missing, longestMissing); err != nil {
			return err
		}
		switch {
		case v.Missing != "":
			v.Value = 0
		case math.IsNaN(v.Value):
			v.Value, v.Missing = 0, "the value was not a number (NaN)"
		case math.IsInf(v.Value, 0):
			v.Value, v.Missing = 0, "the value was infinite"
		}
	}
	return nil
}

// parseProgress reads what a heartbeat carries. Nothing, and what cannot be read, is no progress.
func parseProgress(b []byte) Progress {
	var p Progress
	if json.Unmarshal(b, &p) != nil || p.Epochs < 0 || p.Epochs > mostEpochs || p.Epoch < 0 || p.Epoch > p.Epochs {
		return Progress{}
	}
	p.Text = queue.Clean(p.Text, longestLine)
	return p
}

// cleanBegin bounds the texts of a begin: they are shown, and kept with the attempt.
func cleanBegin(b begin) begin {
	for _, text := range []*string{&b.Host, &b.Program.Version, &b.Program.Kernel, &b.Program.GOOS, &b.Program.GOARCH, &b.Program.GOAMD64, &b.Program.CPU} {
		*text = queue.Clean(*text, longestLine)
	}
	return b
}

// readManifest reads the list of a finished run's files.
func readManifest(m queue.Message) (manifest, error) {
	var files manifest
	if err := json.Unmarshal(m.Data, &files); err != nil {
		return files, fmt.Errorf("study: the list of a run's files: %w", err)
	}
	if b := files.Blob; b != nil {
		if err := boundedText(b.Name, longestKey); err != nil {
			return files, err
		}
		if !strings.HasPrefix(b.Name, m.Job+"/") || b.Bytes < 0 {
			return files, fmt.Errorf("study: a run's files are in %q with %d bytes; wanted a blob of the run", b.Name, b.Bytes)
		}
	}
	return files, nil
}
