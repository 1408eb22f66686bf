package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Hash returns the identity of a run: the SHA-256, in hexadecimal, of the kind, a newline and the
// canonical configuration.
func Hash(k Kind, canonical []byte) string {
	h := sha256.New()
	io.WriteString(h, string(k)+"\n")
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// Canonical returns the one JSON text that represents v: no white space, keys in byte order, strings with the fewest escapes, and
// each number in the shortest form that reads back as the same value, so that 1, 1.0 and 1e0 are equal while a 64-bit seed keeps all
// its digits.
//
// v is anything that encoding/json can marshal, or JSON text as []byte or json.RawMessage. The caller must leave out fields at their
// default (`omitzero`), so that a field added later changes no existing identity. Duplicate keys, invalid UTF-8 and numbers beyond
// float64 are errors.
func Canonical(v any) ([]byte, error) {
	text, err := jsonText(v)
	if err != nil {
		return nil, fmt.Errorf("store: configuration: %w", err)
	}
	if !utf8.Valid(text) {
		return nil, errors.New("store: configuration: not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	out, err := appendNext(nil, d)
	if err != nil {
		return nil, fmt.Errorf("store: configuration: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("store: configuration: more text after the JSON value")
	}
	return out, nil
}

func jsonText(v any) ([]byte, error) {
	switch v := v.(type) {
	case []byte:
		return v, nil
	case json.RawMessage:
		return v, nil
	}
	return json.Marshal(v)
}

// appendNext reads one JSON value from d and appends its canonical form.
func appendNext(out []byte, d *json.Decoder) ([]byte, error) {
	t, err := d.Token()
	if err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return appendObject(out, d)
		}
		return appendArray(out, d)
	case json.Number:
		return appendNumber(out, string(t))
	case string:
		return appendString(out, t), nil
	case bool:
		return strconv.AppendBool(out, t), nil
	default:
		return append(out, "null"...), nil
	}
}

func appendArray(out []byte, d *json.Decoder) ([]byte, error) {
	out = append(out, '[')
	for first := true; d.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = appendNext(out, d); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return append(out, ']'), err
}

func appendObject(out []byte, d *json.Decoder) ([]byte, error) {
	fields := map[string][]byte{}
	var keys []string
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder accepts nothing else here
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("key %q occurs twice", key)
		}
		if fields[key], err = appendNext(nil, d); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	slices.Sort(keys)
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, key), ':')
		out = append(out, fields[key]...)
	}
	return append(out, '}'), nil
}

func appendString(out []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("store: a string cannot be written as JSON")
	}
	return append(out, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// appendNumber appends a number in its shortest form. An integer written in digits keeps them all if it fits 64 bits, as seeds need;
// everything else is a float64 and gets the digits that one needs. (Beyond 2⁵³ the two differ: 6072312182338014208 stays,
// 6.072312182338014208e18 becomes 6072312182338014000, which is also what encoding/json makes of that float64.)
func appendNumber(out []byte, s string) ([]byte, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.AppendInt(out, i, 10), nil // also turns -0 into 0
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return strconv.AppendUint(out, u, 10), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("number %s: %w", s, errors.Unwrap(err))
	}
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.AppendInt(out, int64(x), 10), nil // 1.0 and 1e0 are 1
	}
	text, err := json.Marshal(x)
	return append(out, text...), err
}
