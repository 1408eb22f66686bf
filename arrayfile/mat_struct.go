package arrayfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// A structure holds arrays under the names of its fields: data.features and data.labels of a variable data. One structure is read, also
// within another; an array of several has no single array of a name.

const (
	matStructure = 2
	mostMATField = 1 << 16 // bytes of all names
	deepestMAT   = 8
)

var errNoFields = errors.New("not one structure of arrays")

// entries lists what an element holds: one array, or the fields of a structure.
func (m matElement) entries(depth int) ([]entry, error) {
	if h, _ := m.header(); h.class == matStructure && h.named && h.Name != "" {
		if fields, err := m.fields(h, h.Name, depth); err == nil {
			return fields, nil
		}
	}
	e, err := m.entry()
	return []entry{e}, err
}

// fields lists the arrays of one structure, whose names begin with its own.
func (m matElement) fields(h matArray, prefix string, depth int) ([]entry, error) {
	if n, ok := product(h.Shape, 1); !ok || n != 1 || depth > deepestMAT {
		return nil, errNoFields
	}
	s, err := m.rest(h)
	if err != nil {
		return nil, err
	}
	width, err := s.element(5, 4)
	if err != nil || len(width) != 4 {
		return nil, errors.Join(errNoFields, err)
	}
	names, err := s.element(1, mostMATField)
	n := int(s.order.Uint32(width))
	if err != nil || n < 1 || n > mostMATField || len(names)%n != 0 {
		return nil, errors.Join(errNoFields, err)
	}
	var out []entry
	for ; len(names) > 0; names = names[n:] {
		name, _, _ := strings.Cut(string(names[:n]), "\x00")
		body, err := m.field(s)
		if err != nil {
			return nil, err
		}
		some, err := matElement{body: body, account: m.account, order: m.order}.named(prefix+"."+name, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// named lists what a field holds, under a name that it does not have itself.
func (m matElement) named(name string, depth int) ([]entry, error) {
	if err := m.account.take(int64(len(name)) + entryMemory); err != nil {
		return nil, err
	}
	h, _ := m.header()
	if h.class == matStructure && h.named {
		if fields, err := m.fields(h, name, depth); err == nil {
			return fields, nil
		}
	}
	e, err := m.entry()
	if err != nil {
		e = entry{err: fmt.Errorf("the field is empty or no array: %w", err)}
	}
	e.Name = name
	return []entry{e}, nil
}

// field is the content of the next field. That of a file that is not packed shares its memory.
func (m matElement) field(s *matStream) ([]byte, error) {
	kind, size, small, err := s.tag()
	if err != nil || kind != matMatrix || small != nil || size > s.left() {
		return nil, errors.Join(errNoFields, err)
	}
	end := min(size+int64(padding(size)), s.left())
	if m.packed != nil {
		b, err := s.take(end) // rest has taken the memory
		return b[:min(size, int64(len(b)))], err
	}
	b := m.body[s.at:][:size:size]
	s.at += end
	s.r = bytes.NewReader(m.body[s.at:])
	return b, nil
}
