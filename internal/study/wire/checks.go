package wire

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
)

// What workers elsewhere send is not trusted: it is checked here against what the run can have. Anything else is set aside
// (queue.Coordinator.SetAside); a run that turns out to lack it is computed again.
const (
	LongestKey     = 256     // bytes of a series, split, layer or measure
	LongestMissing = 4 << 10 // bytes of a reason
	longestLine    = 200     // bytes of a host, a program's description, or a progress text
	MostEpochs     = 1 << 31 // of a run whose configuration is not known
)

// boundedText returns an error for a text that is too long or not valid UTF-8.
func boundedText(text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return fmt.Errorf("study: the text %q in a result; at most %d bytes of plain text are wanted", queue.Clean(text, 40), most)
	}
	return nil
}

// checkValues refuses rows that no run can have, and makes non-finite values missing, as the lab does.
func checkValues(keys []store.Key, rows []store.Value) error {
	for _, k := range keys {
		if k.Series == "" || k.Measure == "" {
			return errors.New("study: a value without a name")
		}
		for _, text := range []string{k.Series, k.Split, k.Layer, k.Measure} {
			if err := boundedText(text, LongestKey); err != nil {
				return err
			}
		}
	}
	for i := range rows {
		v := &rows[i]
		if v.Step < 0 {
			return fmt.Errorf("study: a value at step %d", v.Step)
		}
		if err := boundedText(v.Missing, LongestMissing); err != nil {
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

// cleanBegin bounds the texts of a begin message: they are displayed, and kept with the attempt.
func cleanBegin(b Begin) Begin {
	for _, text := range []*string{&b.Host, &b.Program.Version, &b.Program.Kernel, &b.Program.GOOS, &b.Program.GOARCH, &b.Program.GOAMD64, &b.Program.CPU} {
		*text = queue.Clean(*text, longestLine)
	}
	return b
}
