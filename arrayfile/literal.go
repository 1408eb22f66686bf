package arrayfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// literal parses the Python literal of an npy header: a dictionary of strings, booleans and tuples of integers. Everything else is
// refused; nothing is evaluated.
type literal struct{ rest string }

// records stands for a list, which describes a record type.
type records struct{}

func (p *literal) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n\f") }

// eat consumes s and reports whether it was there.
func (p *literal) eat(s string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = rest
	}
	return ok
}

// dictionary parses the whole text.
func (p *literal) dictionary() (map[string]any, error) {
	if !p.eat("{") {
		return nil, errors.New("want {")
	}
	d := map[string]any{}
	for !p.eat("}") {
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		if _, twice := d[key]; twice {
			return nil, fmt.Errorf("key %.40q occurs twice", key)
		}
		if !p.eat(":") {
			return nil, fmt.Errorf("want : after %.40q", key)
		}
		if d[key], err = p.value(); err != nil {
			return nil, err
		}
		if _, list := d[key].(records); list {
			return map[string]any{"descr": records{}, "fortran_order": false, "shape": []int{}}, nil
		}
		if !p.eat(",") && !strings.HasPrefix(strings.TrimLeft(p.rest, " \t\r\n\f"), "}") {
			return nil, fmt.Errorf("want , or } after the value of %.40q", key)
		}
	}
	if p.space(); p.rest != "" {
		return nil, fmt.Errorf("text after the dictionary: %.20q", p.rest)
	}
	return d, nil
}

func (p *literal) value() (any, error) {
	switch {
	case p.eat("True"):
		return true, nil
	case p.eat("False"):
		return false, nil
	case p.eat("("):
		return p.tuple()
	case p.eat("["):
		return records{}, nil
	}
	return p.text()
}

// text parses a quoted string. Escapes do not occur in type names and are refused.
func (p *literal) text() (string, error) {
	for _, quote := range []string{"'", `"`} {
		if p.eat(quote) {
			s, rest, ok := strings.Cut(p.rest, quote)
			if !ok || strings.ContainsAny(s, "\\\n") {
				return "", errors.New("a string does not end, or has escapes")
			}
			p.rest = rest
			return s, nil
		}
	}
	return "", fmt.Errorf("want a string at %.20q", p.rest)
}

// tuple parses integers up to the closing bracket; Python 2 wrote long ones with a trailing L.
func (p *literal) tuple() ([]int, error) {
	shape := []int{}
	for !p.eat(")") {
		end := strings.IndexAny(p.rest, ",) ")
		if end < 0 {
			return nil, errors.New("a tuple does not end")
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(p.rest[:end], "L"), 10, 63)
		if err != nil || strconv.IntSize < 64 && n > 1<<31-1 {
			return nil, fmt.Errorf("%.20q is not a size", p.rest[:end])
		}
		if shape = append(shape, int(n)); len(shape) > 10*maxAxes {
			return nil, fmt.Errorf("a shape of more than %d axes is impossible", 10*maxAxes)
		}
		p.rest = p.rest[end:]
		if !p.eat(",") && !strings.HasPrefix(strings.TrimLeft(p.rest, " "), ")") {
			return nil, errors.New("want , or ) in a tuple")
		}
	}
	return shape, nil
}
