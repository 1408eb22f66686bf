package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// glyphs is the data set that is drawn, not read.
const glyphs = "glyphs"

// Check reports every impossible value of a configuration made in code, as Load does for a file.
func (c Config) Check() error {
	if p := c.problems(nil); len(p) > 0 {
		return &ConfigError{Problems: p}
	}
	return nil
}

// problems lists the impossible values, leaving out keys already complained about.
func (c Config) problems(skip map[string]bool) []Problem {
	var list []Problem
	complain := func(key, format string, args ...any) {
		if !skip[key] {
			list = append(list, Problem{Key: key, Message: fmt.Sprintf(format, args...)})
		}
	}
	for _, f := range c.fields() {
		if message := f.outOfRange(); message != "" {
			complain(f.key, "%s", message)
		}
	}
	if _, err := parseKeep(c.Run.Keep); err != nil {
		complain("run.keep", "%v", err)
	}
	if c.Optim.Nesterov && c.Optim.Momentum == 0 {
		complain("optim.nesterov", "needs optim.momentum above 0; set nesterov = false or momentum = 0.9")
	}
	if s := c.Data.Size; s != 28 && s != 32 && s != 84 {
		complain("data.size", "is %d; wanted 28, 32 or 84", s)
	}
	if c.Data.Name != glyphs && (c.Data.Size != Default().Data.Size || c.Data.Color) {
		complain("data.size", "size and color can be chosen for %s only; files have their own", glyphs)
	}
	if c.Net.BatchNorm && c.Run.Batch == 1 {
		complain("run.batch", "is 1, and batch norm has no variance of one sample; wanted at least 2, or net.batch_norm = false")
	}
	return list
}

// outOfRange says what is wrong with the field's value, or "".
func (f field) outOfRange() string {
	var x float64
	switch v := f.value().(type) {
	case string:
		return f.notAChoice(v)
	case float64:
		x = v
	case int:
		x = float64(v)
	case uint64:
		if v > math.MaxInt64 {
			return fmt.Sprintf("is %d; wanted at most %d, the largest number of a configuration file", v, math.MaxInt64)
		}
		return ""
	default:
		return ""
	}
	if f.limits.set && !f.limits.holds(x) || math.IsNaN(x) {
		return fmt.Sprintf("is %s; wanted %s", strconv.FormatFloat(x, 'g', -1, 64), f.limits)
	}
	return ""
}

func (f field) notAChoice(v string) string {
	if f.choices == nil {
		return ""
	}
	near, nearest := "", 3
	for _, c := range f.choices {
		if c == v {
			return ""
		}
		if d := editDistance(strings.ToLower(v), c); d < nearest && d < len(c) {
			near, nearest = c, d
		}
	}
	message := fmt.Sprintf("is %q; wanted %s", v, f.wanted())
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return message
}

// keepRule says which checkpoints stay besides the last two: those whose epoch is a multiple of every; 0 for none.
type keepRule struct{ every int }

func parseKeep(text string) (keepRule, error) {
	switch {
	case text == "last":
		return keepRule{}, nil
	case text == "all":
		return keepRule{every: 1}, nil
	case strings.HasPrefix(text, "every="):
		n, err := strconv.Atoi(text[len("every="):])
		if err == nil && n >= 1 {
			return keepRule{every: n}, nil
		}
	}
	return keepRule{}, fmt.Errorf("is %q; wanted last, every=N (N at least 1) or all", text)
}

func (k keepRule) keeps(epoch int) bool { return k.every > 0 && epoch%k.every == 0 }
