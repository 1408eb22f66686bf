package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text of fixed width, as numpy stores it: "S7" is 7 bytes, "U7" 7 UTF-32 units of either byte order, both padded with zeros. It is
// read as a column of categories, but only from files: a stream of features and labels holds numbers.

// wordMemory is what a word takes in addition to its bytes: its places in a list, in the table that finds it again, and in the table
// of a caller that numbers the words of several files.
const wordMemory = 160

// maxWord is the longest text that is read, in characters.
const maxWord = 1 << 20

// textError is the header of an array of text. As an error it says that numbers are wanted.
type textError struct {
	Header       // without a type; Categories are found when the elements are read
	unit   int   // bytes of a character: 1 or 4
	width  int   // characters of an element
	err    error // what a reader of numbers says
}

func (t *textError) Error() string { return t.err.Error() }

// textType returns err, as a *textError if the type is text.
func textType(h Header, descr string, err error) error {
	name := strings.TrimLeft(descr, "<>|=")
	if name == "" || name[0] != 'S' && name[0] != 'U' {
		return err
	}
	width, bad := strconv.Atoi(name[1:])
	if bad != nil || width < 1 {
		return err
	}
	t := &textError{Header: h, unit: 1, width: width, err: err}
	if name[0] == 'U' {
		t.unit = 4
	}
	t.BigEndian = descr[0] == '>' || descr[0] == '=' && hostBigEndian
	return t
}

// entry returns the array; read returns its elements, which take size bytes.
func (t *textError) entry(size int64, account *account, read func() ([]byte, error)) (entry, error) {
	if t.width > maxWord {
		return entry{}, fmt.Errorf("text of %d characters is impossible for a label; at most %d are read", t.width, maxWord)
	}
	n, ok := product(t.Shape, math.MaxInt/(t.unit*t.width))
	if !ok || len(t.Shape) > maxAxes || int64(n)*int64(t.unit*t.width) != size {
		return entry{}, fmt.Errorf("shape %v of text of %d bytes does not make the %d bytes that are there", t.Shape, t.unit*t.width, size)
	}
	h := t.Header
	h.DType, h.BigEndian = I64, false
	var codes []byte
	return entry{Header: h,
		words: func() ([]string, error) {
			data, err := read()
			if err != nil {
				return nil, err
			}
			var words []string
			words, codes, err = t.categories(data, n, account)
			return words, err
		},
		load: func() ([]byte, error) { return codes, nil },
	}, nil
}

// categories returns the distinct words of n elements, in order of appearance, and for each element the number of its word as I64.
func (t *textError) categories(data []byte, n int, account *account) (words []string, codes []byte, err error) {
	if err := account.take(8 * int64(n)); err != nil {
		return nil, nil, err
	}
	seen := map[string]uint64{}
	codes = make([]byte, 0, 8*n)
	size := t.unit * t.width
	for i := range n {
		raw := data[i*size:][:size]
		code, known := seen[string(raw)]
		if !known {
			word, err := t.decode(raw)
			if err != nil {
				return nil, nil, fmt.Errorf("element %d: %w", i, err)
			}
			if err := account.take(int64(size) + wordMemory); err != nil {
				return nil, nil, fmt.Errorf("element %d, word %d: %w", i, len(words), err)
			}
			code = uint64(len(words))
			seen[string(raw)] = code
			words = append(words, word)
		}
		codes = binary.LittleEndian.AppendUint64(codes, code)
	}
	return words, codes, nil
}

// decode returns an element without its trailing zeros.
func (t *textError) decode(raw []byte) (string, error) {
	if t.unit == 1 {
		raw = bytes.TrimRight(raw, "\x00")
		if !utf8.Valid(raw) {
			return "", errors.New("bytes that are not UTF-8 text; decode them first, or number the labels")
		}
		return string(raw), nil
	}
	for len(raw) > 0 && binary.LittleEndian.Uint32(raw[len(raw)-4:]) == 0 {
		raw = raw[:len(raw)-4]
	}
	runes := make([]rune, 0, len(raw)/4)
	for at := 0; at < len(raw); at += 4 {
		unit := binary.LittleEndian.Uint32(raw[at:])
		if t.BigEndian {
			unit = binary.BigEndian.Uint32(raw[at:])
		}
		if unit > utf8.MaxRune || !utf8.ValidRune(rune(unit)) {
			return "", fmt.Errorf("%#x is not a character", unit)
		}
		runes = append(runes, rune(unit))
	}
	return string(runes), nil
}

// scalar is a single text.
func (t *textError) scalar(data any) (string, error) {
	raw, ok := data.(string)
	if !ok || t.width > maxWord || len(raw) != t.unit*t.width {
		return "", t.err
	}
	return t.decode([]byte(raw))
}
