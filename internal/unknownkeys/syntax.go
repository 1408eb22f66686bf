package unknownkeys

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// mismatch is the decoder's complaint about a value of another type than its key takes.
var mismatch = regexp.MustCompile(`^toml: cannot decode TOML (.+) into (?:struct field \S+ of type |a Go value of type )?(\S+)`)

// found and wanted are kinds of values in words, by the decoder's names and by those of Go.
var (
	found = map[string]string{"string": "a text", "integer": "a whole number", "float": "a number", "boolean": "true or false", "array": "a list", "inline table": "a table"}
	wants = map[string]string{"string": "a text in quotes", "int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0", "float64": "a number", "bool": "true or false",
		"[]string": `a list of texts, such as ["a", "b"]`, "[2]float64": "two numbers in a list"}
)

// Syntax is an error of the decoder in the user's terms, with line and column, and for a value of a wrong type the key and what it takes.
func Syntax(err error) string {
	text := strings.TrimPrefix(err.Error(), "toml: ")
	var d *toml.DecodeError
	if !errors.As(err, &d) {
		return text
	}
	line, column := d.Position()
	m := mismatch.FindStringSubmatch(d.Error())
	if m == nil || len(d.Key()) == 0 {
		return fmt.Sprintf("line %d, column %d: %s", line, column, strings.TrimPrefix(d.Error(), "toml: "))
	}
	is, wanted := found[m[1]], wants[m[2]]
	if is == "" {
		is = m[1]
	}
	switch {
	case wanted != "":
	case strings.HasPrefix(m[2], "["):
		wanted = "a list"
	default:
		wanted = "a table"
	}
	return fmt.Sprintf("line %d, column %d: %s is %s; wanted %s", line, column, strings.Join(d.Key(), "."), is, wanted)
}
