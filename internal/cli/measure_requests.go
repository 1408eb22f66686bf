package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/arrayfile"
)

// measureRequest is a line on the standard input of `collapse measure --requests`: what stands behind `collapse measure --json` in one call.
type measureRequest struct {
	Arguments []string `json:"arguments"`
}

// measureAnswer is the line on standard output that answers it.
type measureAnswer struct {
	Exit     int             `json:"exit"`               // exit code of the call
	Document json.RawMessage `json:"document,omitempty"` // its standard output
	Said     string          `json:"said,omitempty"`     // its standard error
}

const (
	longestRequest = 16 << 20        // bytes of a line
	idleBeforeFree = 2 * time.Second // without requests, until memory goes back to the system
)

// answerRequests measures for a program that keeps this one beside it, so that a call does not pay for a process that starts. It ends
// with standard input, in the middle of a measurement too: the other program is gone then.
func (c *measureCmd) answerRequests(a *app, in io.Reader) error {
	ctx, end := context.WithCancel(a.ctx)
	defer end()
	lines, failed := readRequests(ctx, end, in)
	out := json.NewEncoder(a.stdout)
	out.SetEscapeHTML(false)
	if err := arrayfile.KeepMapped(true); err != nil { // the other program hands over its arrays in one file
		return err
	}
	defer arrayfile.KeepMapped(false)
	idle := time.NewTimer(idleBeforeFree)
	for {
		select {
		case <-ctx.Done():
			if *failed != nil {
				return *failed
			}
			return a.ctx.Err()
		case <-idle.C:
			if err := arrayfile.KeepMapped(true); err != nil { // which gives back what it keeps
				return err
			}
			debug.FreeOSMemory()
		case line := <-lines:
			if err := out.Encode(answerRequest(ctx, line, a.file1)); err != nil {
				return err
			}
			idle.Reset(idleBeforeFree)
		}
	}
}

// readRequests sends lines until standard input ends, then ends the context. What it points to is why it ended early; it may be read once
// the context has ended.
func readRequests(ctx context.Context, end func(), in io.Reader) (<-chan []byte, *error) {
	lines, failed := make(chan []byte), new(error)
	go func() {
		defer end()
		s := bufio.NewScanner(in)
		s.Buffer(nil, longestRequest)
		for s.Scan() {
			select {
			case lines <- bytes.Clone(s.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		if errors.Is(s.Err(), bufio.ErrTooLong) {
			*failed = usagef("a request on standard input is longer than %d bytes", longestRequest)
		}
	}()
	return lines, failed
}

// answerRequest makes the call that a line asks for.
func answerRequest(ctx context.Context, line []byte, file1 io.Writer) measureAnswer {
	var r measureRequest
	if err := json.Unmarshal(line, &r); err != nil {
		return measureAnswer{Exit: exitUsage, Said: fmt.Sprintf("collapse: a request must be a line such as {\"arguments\": [\"FILE\"]}: %v", err)}
	}
	if slices.Contains(r.Arguments, "-") || slices.ContainsFunc(r.Arguments, func(s string) bool { return strings.HasPrefix(s, "--requests") }) {
		return measureAnswer{Exit: exitUsage, Said: "collapse: standard input holds requests: leave out - and --requests"}
	}
	var out, errs bytes.Buffer
	code := runBeside(ctx, append([]string{"measure", "--json"}, r.Arguments...), &out, file1, &errs)
	answer := measureAnswer{Exit: code, Said: strings.TrimSpace(errs.String())}
	if code == exitOK {
		answer.Document = out.Bytes()
	}
	return answer
}
