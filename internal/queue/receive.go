package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Messages are fetched batch by batch, few enough at a time to use little memory. Receive hands over what is waiting, up to about
// enough: the more messages a transaction of the reader covers, the less each one costs. Messages that end a job cost more.
const (
	batch       = 64
	enough      = 2048 // messages
	enoughEnds  = 256
	enoughBytes = 4 << 20
)

// readerName is the consumer through which the coordinator reads results; what it has acknowledged was handled.
const readerName = "coordinator"

// Receive calls handle with new messages, in the order of the stream, until ctx ends or handle returns an error. Messages are
// acknowledged after handle returned nil: a batch whose handling was interrupted is delivered again, so handling a message twice
// must do no harm. handle must then also repeat its requests to the server: a server that dies forgets them together with the
// acknowledgement. While the server is away, Receive waits.
func (c *Coordinator) Receive(ctx context.Context, handle func([]Message) error) error {
	for {
		cons, err := c.reader(ctx)
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
		if errors.Is(err, errGap) {
			continue
		}
		if err := c.b.pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// reader returns the consumer of results, which begins after what was acknowledged. If it has handed out more than that, it is
// created anew: otherwise the server would deliver unacknowledged messages only after a while, behind later messages, and
// acknowledging those would include them. A missing reader begins at the start of the stream: handling a message twice does no harm.
func (c *Coordinator) reader(ctx context.Context) (jetstream.Consumer, error) {
	config := jetstream.ConsumerConfig{Durable: readerName, AckPolicy: jetstream.AckAllPolicy, AckWait: time.Minute, MaxDeliver: -1,
		MaxAckPending: 200_000}
	old, err := c.results.Consumer(ctx, readerName)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
	case err != nil:
		return nil, err
	default:
		i := old.CachedInfo()
		if i.NumAckPending == 0 && i.Delivered.Consumer == i.AckFloor.Consumer { // a server that just took over reports nothing as pending
			return old, nil
		}
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, i.AckFloor.Stream+1
		if err := c.results.DeleteConsumer(ctx, readerName); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil, err
		}
	}
	return c.results.CreateConsumer(ctx, config)
}

type handlerError struct{ error }

// errGap says that a message was lost between server and reader, for example one that arrived when nobody waited any more.
var errGap = errors.New("queue: a result was lost on its way")

func (c *Coordinator) receive(ctx context.Context, cons jetstream.Consumer, handle func([]Message) error) error {
	read := cons.CachedInfo().Delivered.Consumer
	for ctx.Err() == nil {
		raw, list, err := c.gather(cons, &read)
		if err != nil {
			return err
		}
		if len(raw) == 0 {
			if raw, list, err = c.waitForOne(ctx, cons, &read); err != nil {
				return err
			}
			if len(raw) == 0 {
				continue
			}
		}
		if err := handle(list); err != nil {
			return &handlerError{err}
		}
		if err := raw[len(raw)-1].Ack(); err != nil { // also acknowledges all before it
			return err
		}
	}
	return nil
}

// gather fetches waiting messages until there are no more, or enough.
func (c *Coordinator) gather(cons jetstream.Consumer, read *uint64) (raw []jetstream.Msg, list []Message, err error) {
	ends, bytes := 0, 0
	for len(raw) < enough && ends < enoughEnds && bytes < enoughBytes {
		got, err := cons.FetchNoWait(batch)
		if err != nil {
			return nil, nil, err
		}
		more, messages, err := c.collect(got, read)
		if err != nil {
			return nil, nil, err
		}
		raw, list = append(raw, more...), append(list, messages...)
		if len(more) < batch {
			break
		}
		for _, m := range messages {
			bytes += len(m.Data)
			if m.Type != Data {
				ends++
			}
		}
	}
	return raw, list, nil
}

// waitForOne waits a few seconds for a message.
func (c *Coordinator) waitForOne(ctx context.Context, cons jetstream.Consumer, read *uint64) (raw []jetstream.Msg, list []Message, err error) {
	bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	got, err := cons.Fetch(1, jetstream.FetchContext(bounded))
	if err != nil {
		return nil, nil, err
	}
	if raw, list, err = c.collect(got, read); err != nil || len(raw) > 0 {
		return raw, list, err
	}
	if err := got.Error(); err != nil && !isTimeout(err) {
		return nil, nil, err
	}
	if i, err := cons.Info(ctx); err == nil && i.Delivered.Consumer > *read {
		return nil, nil, errGap // it would be delivered again only after AckWait
	}
	return nil, nil, nil
}

func isTimeout(err error) bool {
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// collect empties a batch, and counts in read, unless that is nil, what the consumer has handed out; if something is missing, the
// error is errGap. A message that cannot be read is set aside: it is in raw but not in list.
func (c *Coordinator) collect(got jetstream.MessageBatch, read *uint64) (raw []jetstream.Msg, list []Message, err error) {
	for m := range got.Messages() {
		meta, bad := m.Metadata()
		if err != nil || bad != nil {
			continue
		}
		if read != nil {
			if *read++; meta.Sequence.Consumer != *read {
				err = errGap
				continue
			}
		}
		raw = append(raw, m)
		msg, why := parseMessage(c.b.resultPrefix(), m.Subject(), m.Headers(), m.Data(), meta.Sequence.Stream)
		if why != nil {
			c.asideResult(m.Subject(), len(m.Data()), meta.Sequence.Stream, why)
			continue
		}
		list = append(list, msg)
	}
	return raw, list, err
}

// Replay calls handle with every message that is in the stream now, from its start.
func (c *Coordinator) Replay(ctx context.Context, handle func([]Message) error) error {
	info, err := streamInfo(ctx, c.b.js, c.b.resultStream())
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
		raw, list, _ := c.collect(got, nil) // an ordered consumer loses nothing
		if len(raw) == 0 {
			return fmt.Errorf("queue: reading the results again: the server sends no more: %w", got.Error())
		}
		if err := handle(list); err != nil {
			return err
		}
		meta, err := raw[len(raw)-1].Metadata()
		if err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		if meta.Sequence.Stream >= last {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
