package script

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// readOnce is how many bytes of events are read at a time.
const readOnce = 256 << 10

// lines reads the lines that a script appends to a file. It never reads past what is there, and holds at most one line.
type lines struct {
	path string
	file *os.File
	at   int64
	line int // number of the last line returned, from 1
	part []byte
	rest []byte // read but not yet returned
	more int    // how often rest names an epoch
}

// replacedError says that a script did something to its file of events other than appending.
type replacedError struct{ how string }

func (e *replacedError) Error() string {
	return fmt.Sprintf("%s was %s; wanted lines appended to it (open it with mode \"a\", >> in a shell)", eventsFile, e.how)
}

// next returns the next complete line without its end, or false if there is none yet. The line is valid until the next call.
func (l *lines) next() (line []byte, ok bool, err error) {
	for {
		if i := bytes.IndexByte(l.rest, '\n'); i >= 0 {
			line, l.rest = l.rest[:i], l.rest[i+1:]
			l.more -= bytes.Count(line, anEpoch)
			if len(l.part) > 0 {
				line, l.part = append(l.part, line...), nil
			}
			l.line++
			if len(line) > longestLine {
				return nil, false, l.tooLong()
			}
			return line, true, nil
		}
		l.part, l.rest = append(l.part, l.rest...), nil
		if len(l.part) > longestLine {
			l.line++
			return nil, false, l.tooLong()
		}
		n, err := l.read()
		if err != nil || n == 0 {
			return nil, false, err
		}
	}
}

// waiting is how many further reports of epochs were read with the line that was returned last.
func (l *lines) waiting() int { return l.more }

var anEpoch = []byte(`"epoch"`)

// longError says that a line is longer than the limit.
type longError struct{ line int }

func (e *longError) Error() string {
	return fmt.Sprintf("%s, line %d: more than %d bytes; wanted short lines of JSON", eventsFile, e.line, longestLine)
}

func (l *lines) tooLong() error { return &longError{l.line} }

// read reads what was appended.
func (l *lines) read() (int, error) {
	own, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	named, err := os.Lstat(l.path)
	switch {
	case err != nil:
		return 0, &replacedError{"removed"}
	case !os.SameFile(own, named):
		return 0, &replacedError{"replaced"}
	case own.Size() < l.at:
		return 0, &replacedError{"cut short"}
	}
	buffer := make([]byte, min(readOnce, own.Size()-l.at))
	n, err := l.file.ReadAt(buffer, l.at)
	if err == io.EOF {
		err = nil
	}
	l.at += int64(n)
	l.rest = buffer[:n]
	l.more = bytes.Count(l.rest, anEpoch)
	return n, err
}

// cutShort reports whether the file ends in the middle of a line.
func (l *lines) cutShort() bool { return len(l.part) > 0 }
