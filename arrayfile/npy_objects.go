package arrayfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// An array of Python objects is a header and a pickle. Where the pickle holds arrays, lists and dicts they are read, without running
// anything: numpy.save(path, {"features": H, "labels": y}) makes such a file.

// objectsError is the header of an array of objects. As an error it says that numbers are wanted.
type objectsError struct{ error }

func (e objectsError) Unwrap() error { return e.error }

// objectEntries lists what the pickle of an array of objects holds; whole says why there would be nothing.
func objectEntries(name string, pickle []byte, whole error, account *account) []entry {
	entries, err := pickleEntries(name, pickle, account)
	if err == nil && len(entries) > 0 {
		return entries
	}
	if err != nil {
		whole = natureError{fmt.Errorf("%w (%w)", whole, err)}
	}
	return []entry{{Header: Header{Name: name}, err: whole}}
}

// parseBareNPY reads a .npy file in memory, with numbers, text or objects.
func parseBareNPY(b []byte, account *account) ([]entry, error) {
	a, err := ParseNPY(b)
	var text *textError
	var objects objectsError
	if !errors.As(err, &text) && !errors.As(err, &objects) {
		return loaded(a), err
	}
	r := bytes.NewReader(b)
	if _, err := readNPYText(r); err != nil {
		return nil, err
	}
	data := slices.Clip(b[len(b)-r.Len():])
	if text == nil {
		entries := objectEntries("", data, err, account)
		if entries[0].Name == "" && entries[0].err != nil {
			return nil, entries[0].err
		}
		return entries, nil
	}
	e, err := text.entry(int64(len(data)), account, func() ([]byte, error) { return data, nil })
	if err != nil {
		return nil, fmt.Errorf("arrayfile: npy: %w", err)
	}
	return []entry{e}, nil
}
