package arrayfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Labels are often words: a cell array with a text in each cell, or a matrix of characters with a word in each row, padded with blanks.

// Array classes that may hold text.
const (
	matCell = 1
	matChar = 4
)

// errNoWords says that a cell array or a matrix of characters is no list of words.
var errNoWords = errors.New("not a list of words")

// wordEntry reads a list of words; an error says why an array is none. Cells are read when the file is, since only they say what they hold.
func (m matElement) wordEntry(h matArray) (entry, error) {
	n, ok := product(h.Shape, maxStack)
	if !ok || n == 0 || len(h.Shape) != 2 {
		return entry{}, errNoWords
	}
	words := wordNumbers{account: m.account}
	s, err := m.rest(h)
	if err != nil {
		return entry{}, err
	}
	if h.class == matChar {
		n = h.Shape[0]
		err = s.rows(h.Shape, &words)
	} else {
		err = s.cells(n, &words)
	}
	if err != nil {
		return entry{}, err
	}
	header := Header{Name: h.Name, DType: I64, Shape: []int{n}}
	return entry{Header: header, words: func() ([]string, error) { return words.words, nil }, load: func() ([]byte, error) { return words.codes, nil }}, nil
}

// rest is the content behind the name.
func (m matElement) rest(h matArray) (*matStream, error) {
	s, err := m.open()
	if err != nil {
		return nil, err
	}
	if m.packed != nil {
		if err := m.account.take(s.size); err != nil {
			return nil, err
		}
	}
	if _, err := io.CopyN(io.Discard, s.r, h.first); err != nil {
		return nil, cut(err)
	}
	s.at = h.first
	return s, nil
}

// rows sees the rows of a matrix of characters; a single row is a text, not a list.
func (s *matStream) rows(shape []int, words *wordNumbers) error {
	if shape[0] < 2 {
		return errNoWords
	}
	units, runes, err := s.text(shape[0] * shape[1])
	if err != nil {
		return err
	}
	if err := words.start(shape[0]); err != nil {
		return err
	}
	for i := range shape[0] {
		row := everyOf(runes, i, shape[0])
		if units != nil {
			row = utf16.Decode(everyOf(units, i, shape[0])) // pairs lie in a row, not below each other
		}
		if err := words.see([]byte(strings.TrimRight(string(row), " \x00"))); err != nil {
			return err
		}
	}
	return nil
}

// everyOf returns one row of a matrix that is stored by columns.
func everyOf[T any](all []T, row, rows int) (out []T) {
	for ; row < len(all); row += rows {
		out = append(out, all[row])
	}
	return out
}

// cells sees the texts of a cell array.
func (s *matStream) cells(n int, words *wordNumbers) error {
	if err := words.start(n); err != nil {
		return err
	}
	for range n {
		kind, size, small, err := s.tag()
		if err != nil || kind != matMatrix || small != nil || size > s.left() {
			return errors.Join(errNoWords, err)
		}
		end := s.at + size
		flags, err1 := s.element(6, 8)
		dims, err2 := s.element(5, 4*maxAxes)
		_, err3 := s.element(1, 1<<12)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if len(flags) != 8 || byte(s.order.Uint32(flags)) != matChar || len(dims) != 8 || s.order.Uint32(dims) > 1 {
			return errNoWords
		}
		text, err := s.characters(int(s.order.Uint32(dims)) * int(s.order.Uint32(dims[4:])))
		if err != nil {
			return err
		}
		if s.at > end {
			return fmt.Errorf("a text ends %d bytes behind its cell", s.at-end)
		}
		if _, err := s.take(end - s.at + int64(padding(size))); err != nil {
			return err
		}
		if err := words.see([]byte(string(text))); err != nil {
			return err
		}
	}
	return nil
}

// characters reads a text of n characters.
func (s *matStream) characters(n int) ([]rune, error) {
	units, runes, err := s.text(n)
	if units != nil {
		runes = utf16.Decode(units)
	}
	return runes, err
}

// text reads n characters: UTF-16 units, of which two may be one character, or bytes, or UTF-8.
func (s *matStream) text(n int) (units []uint16, runes []rune, err error) {
	if n == 0 && s.left() < 8 {
		return nil, nil, nil
	}
	kind, size, b, err := s.tag()
	if err != nil {
		return nil, nil, err
	}
	if b != nil {
		b = b[:size]
	} else if b, err = s.take(min(size+int64(padding(size)), s.left())); err != nil {
		return nil, nil, err
	}
	b = b[:min(size, int64(len(b)))]
	switch {
	case kind == 4 || kind == 17: // UTF-16
		units = make([]uint16, len(b)/2)
		for i := range units {
			units[i] = s.order.Uint16(b[2*i:])
		}
	case (kind == 1 || kind == 2 || kind == 16) && utf8.Valid(b):
		runes = []rune(string(b))
	default:
		return nil, nil, errNoWords
	}
	if found := max(len(units), len(runes)); found != n {
		return nil, nil, fmt.Errorf("%d characters where the shape says %d", found, n)
	}
	return units, runes, nil
}
