package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// batch is how many messages Receive hands over at once, at most: enough that one transaction of the
// reader covers many, few enough to keep memory small.
const batch = 256

// Receive calls handle with new messages, in the order of the stream, until ctx ends or handle returns
// an error. Messages are acknowledged after handle returned nil: a batch whose handling was cut short
// comes again, so handling a message twice must do no harm. While the server is away it waits.
func (c *Coordinator) Receive(ctx context.Context, handle func([]Message) error) error {
	for {
		cons, err := c.results.Consumer(ctx, "coordinator")
		if err == nil {
			err = c.receive(ctx, cons, handle)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var own *handlerError
		if errors.As(err, &own) {
			return own.error
		}
		if err := c.b.pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

type handlerError struct{ error }

func (c *Coordinator) receive(ctx context.Context, cons jetstream.Consumer, handle func([]Message) error) error {
	for ctx.Err() == nil {
		got, err := cons.FetchNoWait(batch)
		if err != nil {
			return err
		}
		raw, list := collect(got)
		if len(raw) == 0 {
			bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
			got, err = cons.Fetch(1, jetstream.FetchContext(bounded))
			if err != nil {
				cancel()
				return err
			}
			raw, list = collect(got)
			cancel()
			if len(raw) == 0 {
				if err := got.Error(); err != nil && !isTimeout(err) {
					return err
				}
				continue
			}
		}
		if err := handle(list); err != nil {
			return &handlerError{err}
		}
		if err := raw[len(raw)-1].Ack(); err != nil { // and all before it
			return err
		}
	}
	return nil
}

func isTimeout(err error) bool {
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// collect empties a batch. A message that no version of this program wrote is left out.
func collect(got jetstream.MessageBatch) (raw []jetstream.Msg, list []Message) {
	for m := range got.Messages() {
		raw = append(raw, m)
		meta, err := m.Metadata()
		if err != nil {
			continue
		}
		if msg, err := parseMessage(m.Subject(), m.Headers(), m.Data(), meta.Sequence.Stream); err == nil {
			list = append(list, msg)
		}
	}
	return raw, list
}

// Replay calls handle with every message that the stream holds now, from its start.
func (c *Coordinator) Replay(ctx context.Context, handle func([]Message) error) error {
	info, err := c.results.Info(ctx)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	last := info.State.LastSeq
	if info.State.Msgs == 0 {
		return nil
	}
	cons, err := c.results.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	for {
		got, err := cons.Fetch(batch, jetstream.FetchMaxWait(2*time.Second))
		if err != nil {
			return fmt.Errorf("queue: reading the results again: %w", err)
		}
		_, list := collect(got)
		if len(list) == 0 {
			return fmt.Errorf("queue: reading the results again: the server sends no more: %w", got.Error())
		}
		if err := handle(list); err != nil {
			return err
		}
		if list[len(list)-1].Sequence >= last {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func parseMessage(subject string, h nats.Header, data []byte, sequence uint64) (Message, error) {
	m := Message{Job: subject[strings.LastIndexByte(subject, '.')+1:], Type: Type(h.Get(headType)), Worker: h.Get(headWorker),
		Error: h.Get(headError), Data: data, Sequence: sequence}
	var err1, err2 error
	m.Generation, err1 = strconv.ParseUint(h.Get(headGeneration), 10, 64)
	m.Attempt, err2 = strconv.Atoi(h.Get(headAttempt))
	return m, errors.Join(err1, err2)
}
