package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on what a script may report.
const (
	longestLine = 1 << 20 // bytes
	mostNames   = 1000    // different names of values in a run
	longestName = 200     // bytes
)

// event is a line of events.jsonl.
type event struct {
	Generation *int64            `json:"generation"`
	Run        string            `json:"run"` // optional
	Epoch      int               `json:"epoch"`
	Values     map[string]number `json:"values"`
	Features   map[string]string `json:"features"` // captures by split, relative to the workspace or absolute
	Loaded     []string          `json:"loaded"`   // files of the code that were read since the report before
	Done       bool              `json:"done"`
	Unasked    []string          `json:"unasked"` // with done: settings of the study that the script never read
}

// number is a value. JSON has no NaN and no infinities: the texts NaN, Infinity and -Infinity stand for them. null says that there is none.
type number struct {
	x    float64
	none bool
}

func (n *number) UnmarshalJSON(text []byte) error {
	*n = number{}
	switch string(text) {
	case "null":
		n.none = true
	case `"NaN"`, `"nan"`:
		n.x = math.NaN()
	case `"Infinity"`, `"inf"`:
		n.x = math.Inf(1)
	case `"-Infinity"`, `"-inf"`:
		n.x = math.Inf(-1)
	default:
		if err := json.Unmarshal(text, &n.x); err != nil {
			return fmt.Errorf("%.40s is not a number", text)
		}
	}
	return nil
}

// parseEvent reads a line. Its errors say what was found and what was wanted.
func parseEvent(line []byte) (event, error) {
	e, err := decodeEvent(line, `{"generation": 1, "epoch": 3, "values": {"test/loss": 0.5}}`)
	if err != nil {
		return event{}, err
	}
	if e.Generation == nil {
		return event{}, fmt.Errorf("generation is missing; wanted that of run.json")
	}
	if err := e.checkValues(); err != nil {
		return event{}, err
	}
	for split := range e.Features {
		if split != trainSplit && split != testSplit && split != oodSplit {
			return event{}, fmt.Errorf("features: %q is none of %s, %s and %s", cut(split), trainSplit, testSplit, oodSplit)
		}
	}
	return e, nil
}

// decodeEvent reads a line that should look like wanted.
func decodeEvent(line []byte, wanted string) (event, error) {
	var e event
	d := json.NewDecoder(bytes.NewReader(namedNumbers(line)))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return event{}, fmt.Errorf("%w; wanted one JSON object such as %s", err, wanted)
	}
	if d.More() {
		return event{}, fmt.Errorf("there is more than one JSON object on the line; wanted each on a line of its own")
	}
	return e, nil
}

func (e event) checkValues() error {
	for name := range e.Values {
		if why := checkName(name); why != "" {
			return fmt.Errorf("values: %q %s", cut(name), why)
		}
	}
	return nil
}

// checkName says why a value cannot have this name, or "".
func checkName(name string) string {
	split, measure, found := strings.Cut(name, "/")
	switch {
	case len(name) > longestName:
		return fmt.Sprintf("has %d bytes; a name has at most %d", len(name), longestName)
	case name == "" || found && (split == "" || measure == ""):
		return "is not a valid name; wanted one such as lr or test/loss"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return unicode.IsControl(c) || !unicode.IsPrint(c) }):
		return "holds characters that cannot be printed"
	}
	return ""
}

// cut shortens text that a message quotes.
func cut(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// namedNumbers quotes NaN, Infinity and -Infinity where they occur outside texts, which is how Python's json writes them.
func namedNumbers(line []byte) []byte {
	if !bytes.Contains(line, []byte("NaN")) && !bytes.Contains(line, []byte("Infinity")) {
		return line
	}
	out := make([]byte, 0, len(line))
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\' && i+1 < len(line):
			out = append(out, c, line[i+1])
			i++
			continue
		case c == '"':
			quoted = !quoted
		case !quoted:
			if n := namedNumber(line[i:]); n > 0 {
				out = append(append(append(out, '"'), line[i:i+n]...), '"')
				i += n - 1
				continue
			}
		}
		out = append(out, line[i])
	}
	return out
}

func namedNumber(text []byte) (length int) {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
