// Package decisiontest is the table of what labels mean: which are accepted, beside which classifier and which options, as how many
// classes, and which are refused. Tests take it through every door: files, the page, and each form of the Python package.
package decisiontest

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

//go:embed decisions.json
var table []byte

const (
	samples = 24
	width   = 5
)

// Decision is a row of the table.
type Decision struct {
	What    string
	Labels  []any  // of the samples, again and again
	As      string // "float", "bool"; "": numbers as they are, or words
	Shape   string // "row", "column", "one-hot", "short"; "": one label for each sample
	Rows    int    // of the classifier; 0: none
	Class   []int  // the class that each label stands for; nil: in order
	Classes any    // K, or the names of the classes
	Ignore  []any

	K       int      // classes that are measured
	Names   []string // of these
	Refused string   // a pattern of what is said instead
	Do      string   // what a user does then
	Tap     *string  // what a Tap and the callbacks built on it say instead, if it differs; "": another decision, which the table does not have
}

// All are the rows of the table.
func All(t testing.TB) (all []Decision) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(table))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// String is the decision's name.
func (d Decision) String() string {
	return fmt.Sprintf("%s %v, rows %d, classes %v, ignored %v", d.What, d.Labels, d.Rows, d.Classes, d.Ignore)
}

// Given are the names of the classes, or nil, and K where a number is given.
func (d Decision) Given() (names []string, k int) {
	switch x := d.Classes.(type) {
	case []any:
		for _, name := range x {
			names = append(names, name.(string))
		}
	case float64:
		k = int(x)
	}
	return names, k
}

// Ignored are the labels to leave out, as a flag has them.
func (d Decision) Ignored() (out []string) {
	for _, x := range d.Ignore {
		out = append(out, fmt.Sprint(x))
	}
	return out
}

// Check compares what was measured: classes, their names, and whether each row of the classifier is taken for the right class.
func (d Decision) Check(t *testing.T, k int, names []string, accuracy float64, err error) {
	t.Helper()
	if d.Refused != "" {
		if err == nil || !regexp.MustCompile(d.Refused).MatchString(err.Error()) {
			t.Errorf("%s: %v, want %s", d, err, d.Refused)
		}
		return
	}
	if err != nil || k != d.K || strings.Join(names, ",") != strings.Join(d.Names, ",") || d.Rows > 0 && accuracy != 1 {
		t.Errorf("%s: %d classes %q, accuracy %g, error %v; want %d classes %q", d, k, names, accuracy, err, d.K, d.Names)
	}
}

// Markdown is the table as users read it.
func Markdown(all []Decision) string {
	out := "| labels | rows of the classifier | classes given | ignored | decision |\n|---|---|---|---|---|\n"
	cells := func(x []any) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint(x), "[]"), " ", ", ") }
	for _, d := range all {
		rows, classes, decision := "none", "", fmt.Sprintf("%d classes", d.K)
		if d.Rows > 0 {
			rows = fmt.Sprint(d.Rows)
		}
		switch x := d.Classes.(type) {
		case []any:
			classes = cells(x)
		case float64:
			classes = fmt.Sprint(x)
		}
		switch {
		case d.Refused != "" && d.Do != "":
			decision = "refused: " + d.Do
		case d.Refused != "":
			decision = "refused"
		case d.Names != nil:
			decision += ": " + strings.Join(d.Names, ", ")
		}
		out += fmt.Sprintf("| %s: %s | %s | %s | %s | %s |\n", d.What, cells(d.Labels), rows, classes, cells(d.Ignore), decision)
	}
	return out
}

// class of sample i.
func (d Decision) class(i int) int {
	if i %= len(d.Labels); d.Class != nil {
		return d.Class[i]
	}
	return i
}

// NPZ is a file of features, labels and perhaps a classifier, whose rows point at the features of their classes.
func (d Decision) NPZ(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name, kind, shape string, data []byte) {
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = w.Write(NPY(kind, shape, data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	point := func(class, at int) float64 { // features: a class's own axis, and a little that differs between samples
		if at == class {
			return 1
		}
		return 0
	}
	h := make([]float64, 0, samples*width)
	for i := range samples {
		for j := range width {
			h = append(h, point(d.class(i), j)+.01*math.Sin(float64(i*width+j)))
		}
	}
	add("features", "<f8", fmt.Sprintf("%d, %d", samples, width), doubles(h))
	kind, shape, data := d.labels()
	add("labels", kind, shape, data)
	if d.Rows > 0 {
		var w []float64
		for c := range d.Rows {
			for j := range width {
				w = append(w, point(c, j))
			}
		}
		add("weight", "<f8", fmt.Sprintf("%d, %d", d.Rows, width), doubles(w))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// labels are those of all samples as a .npy file has them.
func (d Decision) labels() (kind, shape string, data []byte) {
	n := samples
	if d.Shape == "short" {
		n--
	}
	if d.Shape == "one-hot" {
		var x []float64
		for i := range n {
			row := make([]float64, len(d.Labels))
			row[i%len(row)] = 1
			x = append(x, row...)
		}
		return "<f8", fmt.Sprintf("%d, %d", n, len(d.Labels)), doubles(x)
	}
	var buf bytes.Buffer
	for i := range n {
		switch x := d.Labels[i%len(d.Labels)].(type) {
		case string:
			kind = "|S8"
			buf.Write(append([]byte(x), make([]byte, 8-len(x))...))
		case float64:
			switch d.As {
			case "float":
				kind = "<f8"
				buf.Write(doubles([]float64{x}))
			case "bool":
				kind = "|b1"
				buf.WriteByte(byte(x))
			default:
				kind = "<i8"
				buf.Write(binary.LittleEndian.AppendUint64(nil, uint64(int64(x))))
			}
		}
	}
	shape = map[string]string{"row": fmt.Sprintf("1, %d", n), "column": fmt.Sprintf("%d, 1", n)}[d.Shape]
	if shape == "" {
		shape = fmt.Sprintf("%d,", n)
	}
	return kind, shape, buf.Bytes()
}

func doubles(x []float64) (out []byte) {
	for _, v := range x {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// NPY is a .npy file of any type.
func NPY(kind, shape string, data []byte) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, shape)
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	return append(append([]byte("\x93NUMPY\x01\x00\x76\x00"), head...), data...)
}
