package powercut

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// event is a system call that succeeded.
type event struct {
	call   string
	args   []string
	result int64
	began  int // events before its beginning
}

// call is one under way.
type call struct {
	text  string
	began int
}

// parse reads what strace writes: lines "pid call(arguments) = result", or two for a call during which others came.
func parse(r io.Reader, root string) ([]event, error) {
	var events []event
	under := map[string]call{}
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return events, nil
		} else if err != nil && err != io.EOF {
			return nil, err
		}
		pid, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		text = strings.TrimSpace(text)
		c := call{text, len(events)}
		if head, unfinished := strings.CutSuffix(text, "<unfinished ...>"); unfinished {
			under[pid] = call{head, len(events)}
			continue
		}
		if rest, resumed := strings.CutPrefix(text, "<... "); resumed {
			_, rest, _ = strings.Cut(rest, " resumed>")
			c = call{under[pid].text + rest, under[pid].began}
			delete(under, pid)
		}
		if strings.HasPrefix(c.text, "+++") || strings.HasPrefix(c.text, "---") {
			continue
		}
		e, ok, err := parseCall(c)
		if err != nil {
			return nil, err
		}
		if ok && e.concerns(root) {
			events = append(events, e)
		}
	}
}

// parseCall reads "call(arguments) = result"; ok says that the call succeeded.
func parseCall(c call) (e event, ok bool, err error) {
	at := strings.LastIndex(c.text, " = ")
	open := strings.IndexByte(c.text, '(')
	if at < 0 || open < 0 || open > at {
		return e, false, fmt.Errorf("powercut: strace wrote %.200q", c.text)
	}
	number := c.text[at+3:]
	if end := strings.IndexAny(number, "< ("); end >= 0 {
		number = number[:end]
	}
	result, err := strconv.ParseInt(number, 0, 64)
	if number == "?" || err == nil && result < 0 {
		return e, false, nil // it failed, or the process ended
	}
	if err != nil {
		return e, false, fmt.Errorf("powercut: strace wrote the result %.200q", c.text[at:])
	}
	inner := strings.TrimSuffix(strings.TrimRight(c.text[open+1:at], " "), ")")
	return event{c.text[:open], arguments(inner), result, c.began}, true, nil
}

// arguments splits at the commas outside of brackets. Strings have none, since they are written in hexadecimal.
func arguments(text string) []string {
	var args []string
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				args, from = append(args, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	return append(args, strings.TrimSpace(text[from:]))
}

// concerns reports whether an event may be about files below root, or says something.
func (e event) concerns(root string) bool {
	if (e.call == "write" || e.call == "writev") && descriptor(e.args[0]) == 1 || e.call == "sync" || e.call == "io_uring_setup" {
		return true
	}
	for i, a := range e.args {
		if path, ok := annotation(a); ok && below(path, root) && !strings.HasPrefix(a, atWork) {
			return true
		}
		if strings.Contains(e.call, "write") && i == 1 { // what is written
			continue
		}
		if path, ok := text(a); ok && (below(string(path), root) || !strings.HasPrefix(string(path), "/") && (i == 0 || strings.HasPrefix(e.args[i-1], atWork))) {
			return true // the process works in root
		}
	}
	return false
}

// atWork begins an argument that stands for the folder in which the process works.
const atWork = "AT_FDCWD"

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// descriptor is the number of "5<path>"; -1 for another argument.
func descriptor(arg string) int {
	number, _, _ := strings.Cut(arg, "<")
	n, err := strconv.Atoi(number)
	if err != nil {
		return -1
	}
	return n
}

// annotation is the path of "5<path>" or "AT_FDCWD<path>".
func annotation(arg string) (string, bool) {
	_, rest, ok := strings.Cut(arg, "<")
	inside, _, closed := strings.Cut(rest, ">")
	if !ok || !closed {
		return "", false
	}
	return string(bytesOf(inside)), true
}

// text is a string, such as a path or what is written.
func text(arg string) ([]byte, bool) {
	if len(arg) < 2 || arg[0] != '"' || arg[len(arg)-1] != '"' {
		return nil, false
	}
	return bytesOf(arg[1 : len(arg)-1]), true
}

// bytesOf decodes \x61\x62.
func bytesOf(text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
	if err != nil {
		panic(fmt.Sprintf("powercut: strace wrote the string %.200q", text))
	}
	return b
}

// vector are the bytes of [{iov_base="\x61", iov_len=1}, …].
func vector(arg string) []byte {
	var all []byte
	for _, part := range strings.Split(arg, `iov_base="`)[1:] {
		hexed, _, _ := strings.Cut(part, `"`)
		all = append(all, bytesOf(hexed)...)
	}
	return all
}
