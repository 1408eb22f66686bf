package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// listen reads lines until the process ends.
func (p *Process) listen(out io.ReadCloser) {
	defer out.Close()
	defer close(p.lines)
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 64<<10), maxLine)
	say := func(what any) bool {
		select {
		case p.lines <- what:
			return true
		case <-p.gone:
			// What it said before it ended may still be needed.
			select {
			case p.lines <- what:
				return true
			case <-time.After(time.Second):
				return false
			}
		}
	}
	for s.Scan() {
		l, err := parseLine(s.Bytes())
		if err != nil {
			say(err)
			return
		}
		if !say(l) {
			return
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		say(fmt.Errorf("it said a line of more than %d bytes", maxLine))
	}
}

// errEnded says that the process ended, or closed its output.
var errEnded = errors.New("it ended before it answered")

// hear waits for the next line. check is called ten times a second to decide whether to keep waiting.
func (p *Process) hear(ctx context.Context, silence time.Duration, check func() error) (line, error) {
	timeout := time.NewTimer(silence)
	defer timeout.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case said, open := <-p.lines:
			switch what := said.(type) {
			case line:
				return what, nil
			case error:
				return line{}, what
			}
			if !open {
				return line{}, errEnded
			}
		case <-ctx.Done():
			return line{}, context.Cause(ctx)
		case <-timeout.C:
			return line{}, fmt.Errorf("it has said nothing for %v", silence)
		case <-tick.C:
			if check != nil {
				if err := check(); err != nil {
					return line{}, err
				}
			}
		}
	}
}

// withField is the JSON of an object, nil for an empty one, with one more field in front.
func withField(name string, value, object any) ([]byte, error) {
	text, err := json.Marshal(map[string]any{name: value})
	if err != nil || object == nil {
		return text, err
	}
	more, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimPrefix(more, []byte("{")); len(rest) > 1 {
		text = append(append(bytes.TrimSuffix(text, []byte("}")), ','), rest...)
	}
	return text, nil
}

// send writes an order: the fields, preceded by "do".
func (p *Process) send(ctx context.Context, name string, fields any) error {
	text, err := withField("do", name, fields)
	if err != nil {
		return err
	}
	if len(text) >= maxLine {
		return fmt.Errorf("an order of %d bytes; the protocol has at most %d", len(text), maxLine)
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := p.stdin.Write(append(text, '\n'))
		wrote <- err
	}()
	timeout := time.NewTimer(p.limits.Order)
	defer timeout.Stop()
	select {
	case err := <-wrote:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timeout.C:
		return fmt.Errorf("it has not taken an order for %v", p.limits.Order)
	}
}
