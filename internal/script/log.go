package script

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
)

// mostLog is the size at which a log starts again; the previous one is kept, so that a run's output takes at most twice as much.
const mostLog = 4 << 20

// log stores the output of a script. It never fails: output is not a result, and a full disk is noticed where it matters.
type log struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	tail []byte // the end of the output, for messages
}

// tailBytes is how much of the end of the output is kept in memory.
const tailBytes = 8 << 10

// openLog continues an existing log.
func openLog(path string) *log {
	l := &log{path: path}
	if file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err == nil {
		l.file = file
		if info, err := file.Stat(); err == nil {
			l.size = info.Size()
		}
	}
	return l
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, p...)
	if more := len(l.tail) - tailBytes; more > 0 {
		l.tail = append([]byte(nil), l.tail[more:]...)
	}
	if l.file != nil && l.size >= mostLog {
		l.rotate()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

func (l *log) rotate() {
	l.file.Close()
	l.file = nil
	if os.Rename(l.path, l.path+".old") != nil {
		return
	}
	if file, err := os.Create(l.path); err == nil {
		l.file, l.size = file, 0
	}
}

func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// lastLines returns the last lines of the output, at most n.
func (l *log) lastLines(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return lastOf(l.tail, n)
}

func lastOf(text []byte, n int) string {
	all := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(text, []byte("?")))), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}

// noteStart notes how a script is started, for Command, and with which code, for CodeOf. Like output, that is no result, so that a full disk is
// noticed elsewhere.
func noteStart(dir rundir.Dir, line []string, code map[string]string) {
	_ = os.WriteFile(dir.ScriptCode(), sumsOf(code), 0o666)
	_ = os.Remove(dir.ScriptLoaded()) // of an earlier attempt
	words := make([]string, len(line))
	for i, word := range line {
		words[i] = format.ShellWord(word)
	}
	_ = os.WriteFile(dir.ScriptCommand(), []byte(strings.Join(words, " ")+"\n"), 0o666)
}

// Command is how the newest attempt of a run's script was started, as a shell takes it; "" if that is not known.
func Command(dir string) string {
	return lastOf(endOf(dir, rundir.Dir(dir).ScriptCommand(), tailBytes), 1)
}

// Output is the end of what the script of a run wrote to its output, at most so many lines; "" if there is none, or none that may be read. rest is
// the file with all of it, "" if that is all.
func Output(dir string, lines int) (text, rest string) {
	path := rundir.Dir(dir).ScriptLog()
	end := endOf(dir, path, tailBytes)
	if text = lastOf(end, lines); len(end) == tailBytes || len(text) < len(bytes.TrimSpace(end)) {
		rest = path
	}
	return text, rest
}

// endOf are at most the last so many bytes of a file below dir, the folder of a run, which anybody may have written.
func endOf(dir, path string, most int64) []byte {
	if jail.Below(dir, path) != nil {
		return nil
	}
	f, err := inputfile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return nil
	} else if _, err := f.Seek(max(0, info.Size()-most), io.SeekStart); err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return text
}
