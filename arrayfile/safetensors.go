package arrayfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// maxSafetensorsHeader is the format's own limit (huggingface/safetensors, MAX_HEADER_SIZE).
const maxSafetensorsHeader = 100_000_000

// WriteSafetensors writes arrays and metadata (sorted by key; may be nil) to w. As in the reference implementation, arrays of wider
// elements come first, and the header is padded to a multiple of 8 bytes, so that every element is aligned; otherwise the given
// order is kept.
//
// Arrays are stored row-major and little endian: pass others through Canonical first. It is an error if a name occurs twice or is
// "__metadata__", or if an array is inconsistent.
func WriteSafetensors(w io.Writer, arrays []Array, metadata map[string]string) error {
	for _, a := range arrays {
		if err := a.check(); err != nil {
			return err
		}
	}
	arrays = slices.Clone(arrays)
	slices.SortStableFunc(arrays, func(x, y Array) int { return cmp.Compare(y.DType.Size(), x.DType.Size()) })
	header, err := safetensorsHeader(arrays, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return fmt.Errorf("arrayfile: writing safetensors: %w", err)
	}
	for _, a := range arrays {
		if _, err := w.Write(a.Data); err != nil {
			return fmt.Errorf("arrayfile: writing safetensors: array %q: %w", a.Name, err)
		}
	}
	return nil
}

// safetensorsHeader returns the length field and the JSON text.
func safetensorsHeader(arrays []Array, metadata map[string]string) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 8))
	b.WriteByte('{')
	if len(metadata) > 0 {
		b.WriteString(`"__metadata__":`)
		writeJSON(b, metadata) // sorts keys
	}
	seen := map[string]bool{"__metadata__": true}
	offset := 0
	for _, a := range arrays {
		if seen[a.Name] {
			return nil, fmt.Errorf("arrayfile: safetensors cannot hold the name %q twice", a.Name)
		}
		seen[a.Name] = true
		if !a.rowMajor() || a.BigEndian {
			return nil, fmt.Errorf("arrayfile: array %q is not row-major and little endian; pass it through Canonical", a.Name)
		}
		if b.Len() > 9 {
			b.WriteByte(',')
		}
		writeJSON(b, a.Name)
		fmt.Fprintf(b, `:{"dtype":"%s","shape":`, a.DType)
		writeJSON(b, append([]int{}, a.Shape...)) // [] for a scalar, never null
		fmt.Fprintf(b, `,"data_offsets":[%d,%d]}`, offset, offset+len(a.Data))
		offset += len(a.Data)
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len()-8 > maxSafetensorsHeader {
		return nil, fmt.Errorf("arrayfile: a safetensors header of %d bytes is above the format's limit of %d", b.Len()-8, maxSafetensorsHeader)
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(b.Len()-8))
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("arrayfile: a header cannot be written as JSON")
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
}

// ParseSafetensors reads a whole file in memory. The arrays, ordered by position, share b. As in the reference implementation, they
// must cover the data without gap or overlap. An array of a type that is not read is an error: Parse leaves such ones out.
func ParseSafetensors(b []byte) (arrays []Array, metadata map[string]string, err error) {
	tensors, metadata, err := parseSafetensors(b)
	for _, e := range tensors {
		if err == nil && e.err != nil {
			err = fmt.Errorf("tensor %q: %w", e.Name, e.err)
		}
		arrays = append(arrays, Array{e.Header, b[e.begin:e.end:e.end]})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("arrayfile: safetensors: %w", err)
	}
	return arrays, metadata, nil
}

// safetensorsEntries is ParseSafetensors for a File.
func safetensorsEntries(b []byte) ([]entry, map[string]string, error) {
	tensors, metadata, err := parseSafetensors(b)
	if err != nil {
		return nil, nil, fmt.Errorf("arrayfile: safetensors: %w", err)
	}
	entries := make([]entry, len(tensors))
	for i, e := range tensors {
		entries[i] = entry{Header: e.Header, err: e.err, load: func() ([]byte, error) { return b[e.begin:e.end:e.end], nil }}
		if e.err != nil {
			entries[i].Header = Header{Name: e.Name}
		}
	}
	return entries, metadata, nil
}

// parseSafetensors returns the tensors by position, with their places in b.
func parseSafetensors(b []byte) ([]tensorEntry, map[string]string, error) {
	if len(b) < 8 {
		return nil, nil, fmt.Errorf("the file has %d bytes, and a header length needs 8", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxSafetensorsHeader || n > uint64(len(b)-8) {
		return nil, nil, fmt.Errorf("the header claims %d bytes; the file has %d after the length, and the format allows %d", n, len(b)-8, maxSafetensorsHeader)
	}
	entries, metadata, err := decodeHeader(b[8 : 8+n])
	if err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	slices.SortStableFunc(entries, func(x, y tensorEntry) int {
		return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.end, y.end))
	})
	next, end := int64(8+n), int64(len(b))
	for i := range entries {
		e := &entries[i]
		if e.begin != next-int64(8+n) || e.end < e.begin || e.end > end-int64(8+n) {
			return nil, nil, fmt.Errorf("tensor %q: data_offsets [%d, %d]: want a range from %d, where the one before ends, to at most %d, the size of the data",
				e.Name, e.begin, e.end, next-int64(8+n), end-int64(8+n))
		}
		if e.err == nil {
			e.err = e.check()
		}
		e.begin, e.end = e.begin+int64(8+n), e.end+int64(8+n)
		next = e.end
	}
	if next != end {
		return nil, nil, fmt.Errorf("the tensors end at byte %d of %d: the file is cut short or has foreign data at its end", next-int64(8+n), end-int64(8+n))
	}
	return entries, metadata, nil
}

// tensorEntry is one tensor of a header.
type tensorEntry struct {
	Header
	begin, end int64 // in the data, later in the file
	err        error // why it is not read
}

// check compares shape and size.
func (e tensorEntry) check() error {
	n, ok := product(e.Shape, math.MaxInt/e.DType.Size())
	if !ok || int64(n*e.DType.Size()) != e.end-e.begin {
		return fmt.Errorf("shape %v of %s does not fit its %d bytes", e.Shape, e.DType, e.end-e.begin)
	}
	return nil
}

// decodeHeader reads the JSON object token by token, because decoding into a map would hide a name that occurs twice.
func decodeHeader(text []byte) ([]tensorEntry, map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, errors.Join(errors.New("want a JSON object"), err)
	}
	var entries []tensorEntry
	var metadata map[string]string
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		name := t.(string) // the decoder accepts nothing else here
		if seen[name] {
			return nil, nil, fmt.Errorf("%q occurs twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := d.Decode(&metadata); err != nil {
				return nil, nil, fmt.Errorf("__metadata__: want strings only: %w", err)
			}
			continue
		}
		e, err := decodeEntry(d, name)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		entries = append(entries, e)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, errors.New("text after the JSON object")
	}
	return entries, metadata, nil
}

func decodeEntry(d *json.Decoder, name string) (tensorEntry, error) {
	var raw struct {
		DType   string  `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := d.Decode(&raw); err != nil {
		return tensorEntry{}, err
	}
	if len(raw.Offsets) != 2 || raw.Offsets[0] < 0 {
		return tensorEntry{}, fmt.Errorf("data_offsets %v: want a beginning and an end", raw.Offsets)
	}
	e := tensorEntry{Header{Name: name, Shape: raw.Shape}, raw.Offsets[0], raw.Offsets[1], nil}
	if t := slices.IndexFunc(dtypes[:], func(x dtype) bool { return x.name == raw.DType }); t > 0 {
		e.DType = DType(t)
	} else {
		e.err = naturef("dtype %.40q is not one that can be read here (BOOL, U8 to I64, F16, BF16, F32, F64); save it as one of them, such as with .float()", raw.DType)
	}
	return e, nil
}
