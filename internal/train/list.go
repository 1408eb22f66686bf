package train

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// listOf is what a list holds, in the user's terms. Lists are kept as text with commas, so that configurations can be compared; a
// file may have a TOML list or the text.
type listOf string

const (
	wholeNumbers listOf = "whole numbers"
	numbers      listOf = "numbers"
	names        listOf = "names"
	epochList    listOf = "epochs" // or a word for a rule: Check parses it (parseEpochs)
)

// TakesList reports whether the value of a key is a list, so that one TOML list is a single value.
func TakesList(key string) bool {
	return slices.ContainsFunc(writtenDefaults(), func(f field) bool { return f.key == key && f.list != "" })
}

// Axis reads what a setting by hand says of an axis of a grid: the values of a list in TOML, or the one value that it is. For a key that takes
// lists, a list is one value unless its elements are lists, or texts that hold one, such as "60,120".
func Axis(key, value string) (values []any, list bool, err error) {
	var read struct{ V any }
	err = toml.Unmarshal([]byte("V = "+value), &read)
	if !strings.HasPrefix(value, "[") {
		if err != nil {
			read.V = value // a text without quotes
		}
		return []any{read.V}, false, nil
	}
	values, _ = read.V.([]any)
	if err == nil && TakesList(key) && !slices.ContainsFunc(values, holdsList) {
		values = []any{values}
	}
	return values, true, err
}

func holdsList(v any) bool {
	switch v.(type) {
	case []any, string:
		return true
	}
	return false
}

// joined is a TOML list as text.
func joined(list []any) (string, bool) {
	parts := make([]string, len(list))
	for i, v := range list {
		switch v.(type) {
		case string, int64, float64:
		default:
			return "", false
		}
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ","), true
}

// split returns the elements, without surrounding spaces; none for an empty text.
func split(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return parts
}

// listed reads the elements of a list.
func listed[E any](text string, read func(string) (E, error)) ([]E, error) {
	var list []E
	for _, part := range split(text) {
		e, err := read(part)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// plain returns the text in the form that enters a run's identity: without spaces, numbers in their shortest form.
func (l listOf) plain(text string) string {
	parts := split(text)
	for i, p := range parts {
		if x, err := strconv.ParseFloat(p, 64); err == nil && l != names {
			parts[i] = strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	return strings.Join(parts, ",")
}

// complaint says which element is not of the list's type, or "".
func (l listOf) complaint(text string) string {
	if l == epochList {
		return ""
	}
	for _, p := range split(text) {
		ok := p != ""
		switch l {
		case wholeNumbers:
			_, err := strconv.Atoi(p)
			ok = err == nil
		case numbers:
			_, err := strconv.ParseFloat(p, 64)
			ok = err == nil
		}
		if !ok {
			return fmt.Sprintf("has %q; wanted a list of %s, separated by commas", p, l)
		}
	}
	return ""
}
