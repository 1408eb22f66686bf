package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The .npy format (numpy.lib.format): magic, version, header length, a Python dictionary in text,
// then the elements.
const (
	npyMagic = "\x93NUMPY"
	// numpy itself refuses headers above 10,000 bytes unless told to trust the file.
	maxNPYHeader = 1 << 20
	maxAxes      = 64 // numpy's own limit
)

// npyTypes are the types in numpy's notation, without the byte order. numpy has no bfloat16: ml_dtypes and PyTorch users save it as
// two raw bytes, and so it is read and written here.
var npyTypes = [...]string{
	Bool: "b1", U8: "u1", I8: "i1", U16: "u2", I16: "i2", U32: "u4", I32: "i4", U64: "u8", I64: "i8",
	F16: "f2", BF16: "V2", F32: "f4", F64: "f8",
}

// WriteNPY writes one array to w, in the layout that its header says; the name is not kept. The bytes equal those of numpy.save.
func WriteNPY(w io.Writer, a Array) error {
	if err := a.check(); err != nil {
		return err
	}
	if len(a.Shape) > maxAxes {
		return fmt.Errorf("arrayfile: array %q has %d axes, and npy allows %d", a.Name, len(a.Shape), maxAxes)
	}
	for _, part := range [][]byte{a.npyHeader(), a.Data} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("arrayfile: writing npy: %w", err)
		}
	}
	return nil
}

// npyHeader returns everything before the elements, as numpy 1.23 and later write it: the text leaves room for the growing axis to
// reach 21 digits, and ends with a newline at a multiple of 64.
func (h Header) npyHeader() []byte {
	order, fortran := "<", "False"
	switch {
	case h.DType.Size() == 1 || h.DType == BF16 && !h.BigEndian:
		order = "|"
	case h.BigEndian:
		order = ">"
	}
	if h.Fortran {
		fortran = "True"
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': %s, 'shape': %s, }", order, npyTypes[h.DType], fortran, pythonTuple(h.Shape))
	if len(h.Shape) > 0 {
		growing := h.Shape[0]
		if h.Fortran {
			growing = h.Shape[len(h.Shape)-1]
		}
		text += strings.Repeat(" ", 21-len(strconv.Itoa(growing)))
	}
	const before = len(npyMagic) + 2 + 2                           // version 1: 64 axes stay far below its 65,535 bytes
	text += strings.Repeat(" ", 64-(before+len(text)+1)%64) + "\n" // a whole 64 where none is needed
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}

func pythonTuple(shape []int) string {
	parts := make([]string, len(shape))
	for i, s := range shape {
		parts[i] = strconv.Itoa(s)
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// ParseNPY reads a whole .npy file held in memory; the array shares b.
func ParseNPY(b []byte) (Array, error) {
	r := bytes.NewReader(b)
	h, err := ReadNPYHeader(r)
	if err != nil {
		return Array{}, err
	}
	data := b[len(b)-r.Len():]
	if want := h.Len() * h.DType.Size(); want != len(data) {
		return Array{}, fmt.Errorf("arrayfile: npy: shape %v of %s needs %d bytes of data, and the file has %d", h.Shape, h.DType, want, len(data))
	}
	return Array{Header: h, Data: slices.Clip(data)}, nil
}

// ReadNPYHeader reads the header of one .npy record from a stream, up to the first byte of data.
// It returns io.EOF if the stream ends before the record begins.
func ReadNPYHeader(r io.Reader) (Header, error) {
	text, err := readNPYText(r)
	if err == io.EOF {
		return Header{}, err
	}
	var h Header
	if err == nil {
		h, err = parseNPYText(text)
	}
	if err != nil {
		return Header{}, fmt.Errorf("arrayfile: npy: %w", err)
	}
	return h, nil
}

// readNPYText reads magic, version and header text. io.EOF means that there was no byte at all.
func readNPYText(r io.Reader) (string, error) {
	var start [8]byte
	if n, err := io.ReadFull(r, start[:]); err != nil {
		if n == 0 && err == io.EOF {
			return "", io.EOF
		}
		return "", cut(err)
	}
	if string(start[:6]) != npyMagic {
		return "", fmt.Errorf("the file starts with %q, not with %q", start[:6], npyMagic)
	}
	size := 4
	switch start[6] {
	case 1:
		size = 2
	case 2, 3:
	default:
		return "", fmt.Errorf("format version %d.%d is not 1, 2 or 3", start[6], start[7])
	}
	var field [4]byte
	if _, err := io.ReadFull(r, field[:size]); err != nil {
		return "", cut(err)
	}
	n := int64(binary.LittleEndian.Uint32(field[:])) // the upper half stays zero in version 1
	if n > maxNPYHeader {
		return "", fmt.Errorf("the header claims %d bytes; at most %d are read", n, maxNPYHeader)
	}
	var text strings.Builder
	if got, err := io.CopyN(&text, r, n); err != nil {
		return "", fmt.Errorf("the header claims %d bytes and has %d: %w", n, got, cut(err))
	}
	return text.String(), nil
}

func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file is cut short")
	}
	return err
}

// parseNPYText reads the dictionary, whose three keys may come in any order.
func parseNPYText(text string) (Header, error) {
	p := literal{rest: text}
	d, err := p.dictionary()
	if err != nil {
		return Header{}, fmt.Errorf("header %.200q: %w", text, err)
	}
	if len(d) != 3 {
		return Header{}, fmt.Errorf("header %.200q: want the keys descr, fortran_order and shape", text)
	}
	var h Header
	descr, ok1 := d["descr"].(string)
	fortran, ok2 := d["fortran_order"].(bool)
	shape, ok3 := d["shape"].([]int)
	if _, list := d["descr"].(records); list {
		return Header{}, naturef("records (several named columns) are not read; save one array for each column")
	}
	if !ok1 || !ok2 || !ok3 {
		return Header{}, fmt.Errorf("header %.200q: want a type name for descr, True or False for fortran_order, a tuple for shape", text)
	}
	h.Fortran, h.Shape = fortran, shape
	if h.DType, h.BigEndian, err = npyType(descr); err != nil {
		return Header{}, textType(h, descr, err)
	}
	if _, ok := product(shape, math.MaxInt/h.DType.Size()); !ok || len(shape) > maxAxes {
		return Header{}, fmt.Errorf("shape %v is impossible", shape)
	}
	return h, nil
}

// npyType reads a type such as "<f4".
func npyType(descr string) (DType, bool, error) {
	order, name := "", descr
	if descr != "" && strings.Contains("<>|=", descr[:1]) {
		order, name = descr[:1], descr[1:]
	}
	switch i := slices.Index(npyTypes[:], name); {
	case i > 0:
		t := DType(i)
		big := order == ">" || order == "=" && hostBigEndian
		return t, big && t.Size() > 1, nil
	case strings.HasPrefix(name, "O"):
		return 0, false, objectsError{naturef("object arrays hold pickled Python, which may run code, and are not read; save plain numbers, or text as text (.astype(str))")}
	case strings.HasPrefix(name, "c"):
		return 0, false, naturef("complex numbers (element type %.40q) are not read; save real and imaginary parts side by side as twice as many columns", descr)
	case name == "f12" || name == "f16":
		return 0, false, naturef("floats of more than 64 bits (element type %q) are not read; save them with .astype('f8')", descr)
	case strings.HasPrefix(name, "U") || strings.HasPrefix(name, "S"):
		return 0, false, naturef("text (element type %.40q) is read as labels, from a file; here numbers are wanted", descr)
	}
	return 0, false, naturef("element type %.40q is not read; convert to a boolean, integer or floating-point type of at most 64 bits", descr)
}
