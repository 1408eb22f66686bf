package arrayfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// npyOf is a .npy file with any type.
func npyOf(descr, shape string, data []byte) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	text += strings.Repeat(" ", 64-(10+len(text)+1)%64) + "\n"
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(append(b, text...), data...)
}

func utf32(order binary.AppendByteOrder, width int, words ...string) (out []byte) {
	for _, w := range words {
		units := []rune(w)
		for i := range width {
			unit := uint32(0)
			if i < len(units) {
				unit = uint32(units[i])
			}
			out = order.AppendUint32(out, unit)
		}
	}
	return out
}

func zipOf(t *testing.T, method uint16, members map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Text of fixed width becomes categories, bare and in an archive.
func TestText(t *testing.T) {
	words := []string{"Hund", "", "Bär", "Hund", "x\x00y"}
	for name, npy := range map[string][]byte{
		"little": npyOf("<U4", "(5,)", utf32(binary.LittleEndian, 4, words...)),
		"big":    npyOf(">U4", "(5, 1)", utf32(binary.BigEndian, 4, words...)),
		"bytes":  npyOf("|S4", "(5,)", []byte("Hund\x00\x00\x00\x00B\xc3\xa4rHundx\x00y\x00")),
	} {
		for form, file := range map[string][]byte{"npy": npy, "stored": zipOf(t, zip.Store, map[string][]byte{"y.npy": npy}), "packed": zipOf(t, zip.Deflate, map[string][]byte{"y.npy": npy})} {
			f, err := Parse(file)
			if err != nil {
				t.Fatal(name, form, err)
			}
			h := f.Headers()
			if len(h) != 1 || h[0].Len() != 5 || h[0].DType != I64 {
				t.Fatalf("%s %s: headers %+v", name, form, h)
			}
			a, err := f.Load(h[0].Name)
			if err != nil {
				t.Fatal(name, form, err)
			}
			if _, err := a.Float64s(); err == nil || !strings.Contains(err.Error(), "text") {
				t.Errorf("%s %s: text as numbers: %v", name, form, err)
			}
			codes, err := a.Int64s()
			if err != nil {
				t.Fatal(name, form, err)
			}
			var got []string
			for _, c := range codes {
				got = append(got, a.Categories[c])
			}
			if !slices.Equal(got, words) || len(a.Categories) != 4 {
				t.Errorf("%s %s: %q of %q", name, form, got, a.Categories)
			}
		}
	}
}

// What is not read is refused with a message that says what it is and what to do.
func TestRefusedTypes(t *testing.T) {
	for _, c := range []struct{ descr, data, want string }{
		{"|O", "\x80\x04]", "object arrays hold pickled Python"},
		{"<c8", strings.Repeat("x", 16), "complex numbers"},
		{"<c16", strings.Repeat("x", 32), "real and imaginary parts"},
		{"<f16", strings.Repeat("x", 32), "floats of more than 64 bits"},
		{"<M8[s]", strings.Repeat("x", 16), `element type "<M8[s]" is not read`},
		{"<U1", "x", "does not make the"},
		{"|S0", "", "text"},
		{"<U99999999999", "xx", "impossible"},
	} {
		file := zipOf(t, zip.Store, map[string][]byte{"labels.npy": npyOf(c.descr, "(2,)", []byte(c.data))})
		f, err := Parse(file)
		if err != nil {
			t.Fatal(c.descr, err)
		}
		refused := f.Refused()
		if len(f.Headers()) != 0 || len(refused) != 1 || refused[0].Name != "labels" || !strings.Contains(refused[0].Err.Error(), c.want) {
			t.Errorf("%s: %+v, want %q", c.descr, refused, c.want)
		}
		if _, err := Parse(npyOf(c.descr, "(2,)", []byte(c.data))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s alone: %v, want %q", c.descr, err, c.want)
		}
	}
	// A shape that no data could have.
	if _, err := Parse(npyOf("<U1", "(9000000000000000000,)", nil)); err == nil || !strings.Contains(err.Error(), "does not make") {
		t.Errorf("a shape beyond the data: %v", err)
	}
	for descr, data := range map[string]string{"|S1": "\xff", "<U1": "\x00\xd8\x00\x00", ">U1": "\x7f\xff\xff\xff"} {
		f, err := Parse(npyOf(descr, "(1,)", []byte(data)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Load(""); err == nil || !strings.Contains(err.Error(), "element 0") {
			t.Errorf("%s: %q is read: %v", descr, data, err)
		}
	}
	if _, err := ReadNPYHeader(bytes.NewReader(npyOf("<U1", "(1,)", make([]byte, 4)))); err == nil || !strings.Contains(err.Error(), "here numbers are wanted") {
		t.Errorf("text in a stream: %v", err)
	}
}
