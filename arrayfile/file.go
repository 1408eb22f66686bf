package arrayfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// File is an opened file of arrays.
type File struct {
	// Metadata is the metadata of a safetensors file; nil for the other formats.
	Metadata map[string]string

	path    string
	entries []entry
	memory  *mapping // nil: parsed from memory
	size    int64
	account *account
}

// entry is one array of a file, loaded on demand.
type entry struct {
	Header
	load  func() ([]byte, error)   // the elements
	words func() ([]string, error) // Header.Categories, read before load; nil: numbers
	err   error                    // why it cannot be read; then only Header.Name is set
}

// Open opens a file of any of the formats, recognised by its content, and reads the headers of its arrays. The file is memory-mapped until Close: read its arrays within Guard and call File.Changed afterwards, or
// use Read instead of Open. Otherwise another program that truncates the file meanwhile crashes the reader. What is unpacked or
// copied stays within NewFileBudget.
func Open(path string) (*File, error) { return OpenWithin(path, nil) }

// OpenWithin is Open within a budget that other files and callers may share; Close returns what the file has taken. If something
// does not fit, this call or Load returns a *BudgetError.
func OpenWithin(path string, budget *Budget) (*File, error) {
	m, err := mapped(path, "a file of arrays")
	if err != nil {
		return nil, err
	}
	var file *File
	err = m.parse(func() (err error) { file, err = ParseWithin(m.memory, budget); return })
	if err != nil {
		return nil, err
	}
	file.path, file.memory = path, m
	return file, nil
}

// Parse is Open for a file in memory, which the arrays share.
func Parse(b []byte) (*File, error) { return ParseWithin(b, nil) }

// ParseWithin is OpenWithin for a file in memory.
func ParseWithin(b []byte, budget *Budget) (*File, error) {
	account := newAccount(budget, len(b))
	parsed := false
	defer func() { // also if the memory cannot be read, which panics
		if !parsed {
			account.close()
		}
	}()
	f, err := parse(b, account)
	if err != nil {
		return nil, err
	}
	f.account, f.size, parsed = account, int64(len(b)), true
	return f, nil
}

func parse(b []byte, account *account) (*File, error) {
	if isPacked(b) {
		var err error
		if b, err = unpackedFile(b, account); err != nil {
			return nil, fmt.Errorf("arrayfile: the file is packed: %w", err)
		}
	}
	f := &File{}
	for i := range fileFormats {
		if format := &fileFormats[i]; format.is(b) {
			err := format.parse(f, b, account)
			if err == errNoTable {
				break
			}
			return f, err
		}
	}
	return f, unknownFormat(b)
}

// unknownFormat says that a file is in none of the formats, and what to do.
func unknownFormat(b []byte) error {
	if isPacked(b) {
		return errors.New("arrayfile: the file is packed twice; unpack it first: gunzip FILE")
	}
	return fmt.Errorf("arrayfile: the file starts with %.8q, which is none of %s; in Python: numpy.savez(\"x.npz\", features=…, labels=…)", b, Formats())
}

func loaded(arrays ...Array) []entry {
	entries := make([]entry, len(arrays))
	for i, a := range arrays {
		entries[i] = entry{Header: a.Header, load: func() ([]byte, error) { return a.Data, nil }}
	}
	return entries
}

// Headers returns the arrays that can be read, in file order. Names are unique; that of a .npy is "". Other members, such as an
// array of objects, are omitted: Refused says why.
func (f *File) Headers() []Header {
	var headers []Header
	for _, e := range f.entries {
		if e.err == nil {
			h := e.Header
			h.Text = e.words != nil || h.Categories != nil
			headers = append(headers, h)
		}
	}
	return headers
}

// Refused says why an array cannot be read.
type Refused struct {
	Name string
	Err  error
	// Damaged distinguishes an incomplete array from one of a type that is not read, such as objects.
	Damaged bool
}

// natureError says that an array is complete but of a type that is not read.
type natureError struct{ error }

func naturef(format string, args ...any) error { return natureError{fmt.Errorf(format, args...)} }

// Refused returns the arrays that Headers omits, in file order.
func (f *File) Refused() []Refused {
	var out []Refused
	for _, e := range f.entries {
		if e.err != nil {
			var nature natureError
			out = append(out, Refused{e.Name, e.err, !errors.As(e.err, &nature)})
		}
	}
	return out
}

// Load returns one array by name. An uncompressed array shares the file's memory until Close; a compressed one is a copy.
func (f *File) Load(name string) (a Array, err error) {
	err = Guard(func() error { a, err = f.load(name); return err })
	return a, err
}

func (f *File) load(name string) (Array, error) {
	i := slices.IndexFunc(f.entries, func(e entry) bool { return e.Name == name })
	if i < 0 {
		var names []string
		for _, h := range f.Headers() {
			names = append(names, h.Name)
		}
		return Array{}, fmt.Errorf("arrayfile: %s has no array %q; it has %.1000s", f.path, name, strings.Join(names, ", "))
	}
	a, err := f.entries[i].array()
	if err != nil {
		return Array{}, fmt.Errorf("arrayfile: %s: %q: %w", f.path, name, err)
	}
	return a, nil
}

// array returns the entry with its elements.
func (e entry) array() (a Array, err error) {
	if e.err != nil {
		return a, e.err
	}
	if e.words != nil {
		if e.Categories, err = e.words(); err != nil {
			return a, err
		}
	}
	a.Header = e.Header
	a.Text = a.Categories != nil
	a.Data, err = e.load()
	return a, err
}

// Changed returns *ChangedError if the file has changed since it was opened: then what was read may be partly old and partly new. It
// detects a change of size or modification time, also if the name now belongs to another file, which by itself changes nothing.
func (f *File) Changed() error {
	if f.memory == nil {
		return nil
	}
	return f.memory.changed()
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Close releases the file; arrays that share its memory become invalid.
func (f *File) Close() error {
	f.account.close()
	if f.memory == nil {
		return nil
	}
	err := f.memory.close()
	f.entries, f.memory = nil, nil
	return err
}
