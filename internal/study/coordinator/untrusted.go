package coordinator

import (
	"context"
	"errors"
	"fmt"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
)

// admit drops the messages that cannot be used.
func (e *coordinator) admit(ctx context.Context, list []queue.Message) []queue.Message {
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

func (e *coordinator) checkMessage(ctx context.Context, m queue.Message) error {
	switch {
	case m.Type == queue.Data && len(m.Data) == 0:
		return errors.New("study: an empty result")
	case m.Type == queue.Data && m.Data[0] == wire.TagBegin:
		if _, err := e.readBegin(m); err != nil {
			return err
		}
		return e.c.Plausible(ctx, m)
	case m.Type == queue.Data && m.Data[0] != wire.TagRows:
		return fmt.Errorf("study: a result that begins with byte %#x", m.Data[0])
	case m.Type == queue.Failed, m.Type == queue.GaveUp:
		return e.c.Plausible(ctx, m)
	}
	return nil
}

func (e *coordinator) setAside(m queue.Message, why error) {
	e.c.SetAside(fmt.Sprintf("message %d of run %.12s from %s", m.Sequence, m.Job, m.Worker), len(m.Data), why)
}

// readBegin reads the message that begins an attempt at a run.
func (e *coordinator) readBegin(m queue.Message) (wire.Begin, error) {
	b, err := wire.DecodeBegin(m.Data[1:])
	if err != nil {
		return b, err
	}
	if most := e.epochsOf(m.Job); b.From < -1 || b.From > most {
		return b, fmt.Errorf("study: an attempt resumes from epoch %d of %d", b.From, most)
	}
	return b, nil
}

// readRows reads the rows of an epoch of a run.
func (e *coordinator) readRows(m queue.Message) (store.EpochRows, error) {
	rows, err := wire.DecodeRows(m.Data[1:])
	if err != nil {
		return rows, err
	}
	if most := e.epochsOf(m.Job); rows.Epoch < 0 || rows.Epoch > most {
		return rows, fmt.Errorf("study: rows of epoch %d; the run has %d", rows.Epoch, most)
	}
	return rows, nil
}

// epochsOf is the number of epochs of a run, by its configuration.
func (e *coordinator) epochsOf(hash string) int64 {
	if n, ok := e.epochs[hash]; ok {
		return n
	}
	e.mu.Lock()
	run := e.open[hash]
	e.mu.Unlock()
	if run == nil || study.KindOf(run.Kind) == nil {
		return wire.MostEpochs
	}
	epochs := study.KindOf(run.Kind).Epochs(run.Payload)
	if epochs == 0 {
		return wire.MostEpochs
	}
	if e.epochs == nil {
		e.epochs = map[string]int64{}
	}
	e.epochs[hash] = epochs
	return e.epochs[hash]
}
