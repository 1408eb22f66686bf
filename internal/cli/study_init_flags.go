package cli

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// scriptFlag is a flag of a script with its default as TOML.
type scriptFlag struct {
	Key     string `json:"key"`
	Default string `json:"default"`
	Choices string `json:"choices,omitempty"` // a list, as TOML
}

// flags are what a Python script reads with argparse.
type flags struct {
	found  []scriptFlag
	others []string // flags without a plain default
	unfit  []string // flags whose names no setting can have
	epochs string
}

// flagsOf finds the flags that a Python script reads with argparse. The lab sets epochs, of which the default is apart, and seed.
func flagsOf(text string) flags {
	f := flags{found: []scriptFlag{}, epochs: "10"}
	for i, call := range strings.SplitN(text, "add_argument(", 102) {
		names := flagNames.FindString(call)
		name := longName.FindStringSubmatch(names)
		if other := foreignName.FindStringSubmatch(call); i > 0 && other != nil {
			f.unfit = append(f.unfit, other[1])
		}
		if i == 0 || name == nil {
			continue
		}
		others := untilClosed(call[len(names):])
		value, plain := "", false
		if d := argparseDefault.FindStringSubmatch(others); d != nil {
			value, plain = pythonValue(strings.TrimSpace(d[1]))
		} else if argparseSwitch.MatchString(others) {
			value, plain = "false", true
		}
		switch n, err := strconv.Atoi(value); {
		case name[1] == "epochs" && err == nil && n > 0:
			f.epochs = value
		case name[1] == "epochs", name[1] == "seed":
		case plain:
			f.found = append(f.found, scriptFlag{name[1], value, choicesOf(others)})
		default:
			f.others = append(f.others, name[1])
		}
	}
	return f
}

// untilClosed is the text up to the bracket that closes a call. Brackets in texts do not count.
func untilClosed(text string) string {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return text[:i]
			}
		}
	}
	return text
}

// choicesOf are the values that a flag chooses from, as a list of TOML; "" if there is none.
func choicesOf(arguments string) string {
	m := argparseChoices.FindStringSubmatch(arguments)
	if m == nil {
		return ""
	}
	var values []string
	for word := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(m[1]), ","), ",") {
		value, ok := pythonValue(strings.TrimSpace(word))
		if !ok {
			return ""
		}
		values = append(values, value)
	}
	return "[" + strings.Join(values, ", ") + "]"
}

var tomlNumber = regexp.MustCompile(`^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$`)

// pythonValue writes a plain value of Python as TOML.
func pythonValue(text string) (toml string, ok bool) {
	switch text {
	case "True", "False":
		return strings.ToLower(text), true
	}
	number := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), true
	}
	if x, err := strconv.ParseFloat(number, 64); err == nil && x-x == 0 {
		if !tomlNumber.MatchString(number) { // which wants a digit on both sides of a point
			if number = strconv.FormatFloat(x, 'g', -1, 64); !strings.ContainsAny(number, ".e") {
				number += ".0"
			}
		}
		return number, true
	}
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] && !strings.ContainsAny(text[1:n-1], `"'\`) {
		return strconv.Quote(text[1 : n-1]), true
	}
	return "", false
}

// spaceOf is a space to search around the defaults of the flags that a script reads, as comments.
func spaceOf(found []scriptFlag) string {
	if len(found) == 0 {
		found = []scriptFlag{{Key: "lr", Default: "0.1"}, {Key: "layers", Default: "4"}, {Key: "opt", Default: `"sgd"`}}
	}
	text := ""
	for _, f := range found {
		space := "{ choice = [" + f.Default + "] }"
		whole, err := strconv.ParseInt(f.Default, 10, 64)
		x, wrong := strconv.ParseFloat(f.Default, 64)
		switch {
		case f.Choices != "":
			space = "{ choice = " + f.Choices + " }"
		case err == nil && whole > 0 && whole < math.MaxInt32:
			space = fmt.Sprintf("{ integer = [%d, %d] }", max(1, whole/2), 2*whole)
		case err != nil && wrong == nil && x > 0:
			space = fmt.Sprintf("{ log_uniform = [%g, %g] }", x/10, x*10)
		case f.Default == "false", f.Default == "true":
			space = "{ choice = [false, true] }"
		}
		text += "# " + f.Key + " = " + space + "\n"
	}
	return text
}

// any reports whether the script reads flags.
func (f flags) any() bool { return len(f.found)+len(f.others) > 0 }
