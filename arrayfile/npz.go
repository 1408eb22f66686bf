package arrayfile

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
)

// maxDeflate is the largest expansion by deflate: 258 bytes from two bits.
const maxDeflate = 1032

// WriteNPZ writes arrays as a zip archive of .npy members, in the given order, uncompressed and without dates. Each member starts at
// a multiple of 64 bytes, so that the arrays of a mapped file need no copy. It is an error if a name is empty or occurs twice.
func WriteNPZ(w io.Writer, arrays []Array) error {
	z := zip.NewWriter(w)
	offset := int64(0)
	seen := map[string]bool{}
	for _, a := range arrays {
		if err := a.check(); err != nil {
			return err
		}
		if a.Name == "" || seen[a.Name] {
			return fmt.Errorf("arrayfile: npz needs a name of its own for every array; %q is empty or occurs twice", a.Name)
		}
		seen[a.Name] = true
		n, err := writeMember(z, a, offset)
		if err != nil {
			return fmt.Errorf("arrayfile: writing npz: array %q: %w", a.Name, err)
		}
		offset += n
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("arrayfile: writing npz: %w", err)
	}
	return nil
}

// writeMember writes one member at an offset of the archive and returns its length.
func writeMember(z *zip.Writer, a Array, offset int64) (int64, error) {
	if len(a.Name) > math.MaxUint16-len(".npy") {
		return 0, errors.New("the name is too long for a zip archive")
	}
	if len(a.Shape) > maxAxes {
		return 0, fmt.Errorf("%d axes; npy allows %d", len(a.Shape), maxAxes)
	}
	header := a.npyHeader()
	size := uint64(len(header) + len(a.Data))
	h := &zip.FileHeader{
		Name: a.Name + ".npy", Method: zip.Store,
		CRC32:              crc32.Update(crc32.ChecksumIEEE(header), crc32.IEEETable, a.Data),
		CompressedSize64:   size,
		UncompressedSize64: size,
	}
	//lint:ignore SA1019 CreateRaw takes the date from here; 1 January 1980 is the format's zero.
	h.ModifiedDate = 1<<5 | 1
	const local = 30 // bytes of a local header before the name
	h.Extra = alignment(offset + local + int64(len(h.Name)))
	w, err := z.CreateRaw(h)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(header); err != nil {
		return 0, err
	}
	_, err = w.Write(a.Data)
	return int64(local+len(h.Name)+len(h.Extra)) + int64(size), err
}

// alignment returns the extra field (Android's, 0xd935: the alignment, then zeros) after which a
// member whose extra field starts at offset has its data at a multiple of 64.
func alignment(offset int64) []byte {
	const fixed = 6
	pad := int((64 - (offset+fixed)%64) % 64)
	b := binary.LittleEndian.AppendUint16(nil, 0xd935)
	b = binary.LittleEndian.AppendUint16(b, uint16(2+pad))
	b = binary.LittleEndian.AppendUint16(b, 64)
	return append(b, make([]byte, pad)...)
}

// kerasWeights is the member of Keras's .keras files that holds a model's arrays.
const kerasWeights = "model.weights.h5"

// parseZip reads the directory of a zip archive, numpy's, PyTorch's or Keras's, and the headers of its arrays.
func parseZip(b []byte, account *account) ([]entry, error) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("arrayfile: npz: %w", err)
	}
	members, err := disjoint(z.File, b, account)
	if err != nil {
		return nil, fmt.Errorf("arrayfile: npz: %w", err)
	}
	if pickle, ok := pickleMember(members); ok {
		return parsePT(members, pickle, account)
	}
	if i := slices.IndexFunc(members, func(m member) bool { return m.Name == kerasWeights }); i >= 0 {
		inner, err := members[i].bytes()
		if err != nil {
			return nil, fmt.Errorf("arrayfile: keras: %w", err)
		}
		return parseHDF5(inner, account)
	}
	var entries []entry
	seen := map[string]bool{}
	for _, m := range members {
		name, ok := strings.CutSuffix(m.Name, ".npy")
		if !ok {
			continue // numpy does not treat it as an array either
		}
		if seen[name] {
			return nil, fmt.Errorf("arrayfile: npz: %q occurs twice", m.Name)
		}
		seen[name] = true
		for _, e := range m.entries(name) {
			if e.Name != name && seen[e.Name] {
				return nil, fmt.Errorf("arrayfile: npz: two arrays are called %.80q", e.Name)
			}
			seen[e.Name] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// member is a file of a zip archive whose packed bytes are in the archive and not shared with others.
type member struct {
	*zip.File
	packed  []byte
	account *account // of the archive, from which unpacked bytes are taken
}

// disjoint returns the members, in directory order, and refuses archives whose members share
// bytes, by which a small one can unpack to any size.
func disjoint(files []*zip.File, b []byte, account *account) ([]member, error) {
	type span struct{ begin, end uint64 }
	members, begins, spans := make([]member, len(files)), make([]uint64, len(files)), make([]span, 0, len(files))
	for i, f := range files {
		at, err := f.DataOffset()
		if err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		n, begin := f.CompressedSize64, uint64(at)
		if begin > uint64(len(b)) || n > uint64(len(b))-begin {
			return nil, fmt.Errorf("%q lies outside the file, which may be cut short", f.Name)
		}
		members[i], begins[i] = member{f, b[begin : begin+n : begin+n], account}, begin
		if n > 0 {
			spans = append(spans, span{begin, begin + n})
		}
	}
	sort.Slice(spans, func(i, j int) bool { x, y := &spans[i], &spans[j]; return cmp.Compare(x.begin, y.begin) < 0 })
	for i := 1; i < len(spans); i++ {
		if spans[i].begin < spans[i-1].end {
			return nil, errors.New("members overlap, as in archives made to fill the disk")
		}
	}
	for i, f := range files {
		if !namedAlike(b[:begins[i]], f.Name) {
			return nil, fmt.Errorf("%q has another name in the archive's directory than where it lies: the file is damaged", f.Name)
		}
	}
	return members, nil
}

// namedAlike reports whether the local header that ends b has the name given in the directory: damage to either could make an array
// appear that was never there.
func namedAlike(b []byte, name string) bool {
	const fixed = 30 // bytes before the name
	for extra := 0; extra <= min(math.MaxUint16, len(b)-fixed-len(name)); extra++ {
		h := b[len(b)-extra-len(name)-fixed:]
		if string(h[:4]) == "PK\x03\x04" && int(binary.LittleEndian.Uint16(h[26:])) == len(name) && int(binary.LittleEndian.Uint16(h[28:])) == extra {
			return string(h[fixed:][:len(name)]) == name
		}
	}
	return false
}

// entries reads the header of a .npy member, which is one array unless it holds objects.
func (m member) entries(name string) []entry {
	fail := func(err error) []entry { return []entry{{Header: Header{Name: name}, err: err}} }
	if err := m.check(); err != nil {
		return fail(err)
	}
	r, err := m.Open()
	if err != nil {
		return fail(err)
	}
	defer r.Close()
	counted := &counter{r: r}
	h, err := ReadNPYHeader(counted)
	if err == io.EOF {
		err = errors.New("the member is empty")
	}
	start := counted.n
	elements := func() ([]byte, error) {
		all, err := m.bytes()
		if err != nil {
			return nil, err
		}
		return all[start:], nil
	}
	e := entry{Header: h, load: elements}
	var text *textError
	var objects objectsError
	if errors.As(err, &objects) {
		pickle, unpacking := elements()
		if unpacking != nil {
			return fail(natureError{fmt.Errorf("%w (%w)", err, unpacking)})
		}
		return objectEntries(name, pickle, err, m.account)
	}
	if errors.As(err, &text) {
		e, err = text.entry(int64(min(m.UncompressedSize64, math.MaxInt64))-start, m.account, elements)
	} else if err == nil {
		err = m.checkSize(h, start)
	}
	if err != nil {
		return fail(err)
	}
	e.Name = name
	return []entry{e}
}

// checkSize compares a header with the member whose elements begin at start.
func (m member) checkSize(h Header, start int64) error {
	if want := uint64(start) + uint64(h.Len()*h.DType.Size()); want != m.UncompressedSize64 {
		return fmt.Errorf("shape %v of %s makes %d bytes, and the member has %d", h.Shape, h.DType, want, m.UncompressedSize64)
	}
	return nil
}

// check refuses members that cannot be read and sizes that cannot be true.
func (m member) check() error {
	const encrypted = 1
	size, packed := m.UncompressedSize64, uint64(len(m.packed))
	switch {
	case m.Flags&encrypted != 0:
		return errors.New("the member is encrypted")
	case m.Method == zip.Store && size != packed, m.Method == zip.Deflate && size/maxDeflate > packed:
		return fmt.Errorf("%d packed bytes cannot hold the %d that the archive claims", packed, size)
	case m.Method != zip.Store && m.Method != zip.Deflate:
		return fmt.Errorf("compression method %d is not read; numpy uses none (0) and deflate (8)", m.Method)
	}
	return nil
}

// bytes returns the unpacked member, checked against its checksum. A stored one is not copied.
func (m member) bytes() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.Method == zip.Store {
		if crc32.ChecksumIEEE(m.packed) != m.CRC32 {
			return nil, zip.ErrChecksum
		}
		return m.packed, nil
	}
	r, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := m.account.take(int64(m.UncompressedSize64)); err != nil {
		return nil, err
	}
	b := make([]byte, m.UncompressedSize64)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, cut(err)
	}
	// The checksum is compared at the end of the stream.
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF {
		return nil, cmp.Or(err, errors.New("the member is longer than the archive claims"))
	}
	return b, nil
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
