package train

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// field is one key of the configuration: the only place that knows its name, its variable, its meaning and its limits.
type field struct {
	key     string // section.key as the user writes it
	ptr     any    // *string, *int, *uint64, *float64 or *bool inside a Config
	doc     string // one line of the printed configuration
	choices []string
	limits  interval
	list    listOf    // the text is a list of these
	only    condition // where the key has an effect; the zero value: everywhere
	outside bool      // not part of a run's identity: a folder, what is kept, or what the digests of the data sets already determine
}

// interval is an allowed range of a number; open ends are excluded. The zero value allows everything.
type interval struct {
	lo, hi         float64
	openLo, openHi bool
	set            bool
}

func from(lo float64) interval { return interval{lo: lo, hi: math.Inf(1), openHi: true, set: true} }
func above(lo float64) interval {
	return interval{lo: lo, hi: math.Inf(1), openLo: true, openHi: true, set: true}
}
func between(lo, hi float64) interval  { return interval{lo: lo, hi: hi, set: true} }
func halfOpen(lo, hi float64) interval { return interval{lo: lo, hi: hi, openHi: true, set: true} }
func (r interval) holds(x float64) bool {
	return (x > r.lo || x == r.lo && !r.openLo) && (x < r.hi || x == r.hi && !r.openHi)
}

func (r interval) String() string {
	lo, hi := strconv.FormatFloat(r.lo, 'g', -1, 64), strconv.FormatFloat(r.hi, 'g', -1, 64)
	switch {
	case math.IsInf(r.hi, 1) && r.openLo:
		return "a finite number above " + lo
	case math.IsInf(r.hi, 1):
		return "at least " + lo
	case r.openHi:
		return "at least " + lo + " and below " + hi
	}
	return "between " + lo + " and " + hi
}

// value is the field's current value.
func (f field) value() any { return reflect.ValueOf(f.ptr).Elem().Interface() }

// text is the field's value in TOML.
func (f field) text() string {
	switch v := f.value().(type) {
	case string:
		return tomlString(v)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0" // a TOML float needs a point or an exponent
		}
		return s
	default:
		return fmt.Sprint(v)
	}
}

// wanted describes the type in the user's terms.
func (f field) wanted() string {
	switch f.ptr.(type) {
	case *string:
		switch {
		case f.choices != nil:
			return "one of " + strings.Join(f.choices, ", ")
		case f.list != "":
			return "a list of " + string(f.list)
		}
		return "a text in quotes"
	case *int:
		return "a whole number"
	case *uint64:
		return "a whole number, at least 0"
	case *float64:
		return "a number"
	}
	return "true or false"
}

// set stores a decoded TOML value and returns what is wrong with it, or "".
func (f field) set(v any) string {
	ok := false
	switch p := f.ptr.(type) {
	case *string:
		s, is := v.(string)
		if list, given := v.([]any); given && f.list != "" {
			s, is = joined(list)
		}
		ok = assign(p, s, is)
	case *bool:
		b, is := v.(bool)
		ok = assign(p, b, is)
	case *float64:
		x, is := v.(float64)
		if n, whole := v.(int64); whole {
			x, is = float64(n), true
		}
		ok = assign(p, x, is)
	case *int:
		x, is := v.(int64)
		ok = assign(p, int(x), is && int64(int(x)) == x)
	case *uint64:
		x, is := v.(int64)
		ok = assign(p, uint64(x), is && x >= 0)
	}
	if !ok {
		return fmt.Sprintf("is %s; wanted %s", describe(v), f.wanted())
	}
	return ""
}

// assign stores v if the field can hold it.
func assign[T any](p *T, v T, ok bool) bool {
	if ok {
		*p = v
	}
	return ok
}

func describe(v any) string {
	switch x := v.(type) {
	case string:
		return strconv.Quote(x)
	case map[string]any:
		return "a section"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

// copyFrom copies the value of the same key in another configuration.
func (f field) copyFrom(other field) {
	reflect.ValueOf(f.ptr).Elem().Set(reflect.ValueOf(other.ptr).Elem())
}
