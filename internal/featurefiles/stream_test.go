package featurefiles

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// TestStream reads records cut at several places: what one pass over the whole gives.
func TestStream(t *testing.T) {
	p := problems()[0]
	for _, dtype := range []arrayfile.DType{arrayfile.F64, arrayfile.F32} {
		for _, shift := range []int64{0, 10} {
			var b bytes.Buffer
			for _, cut := range [][2]int{{0, 1}, {1, 9}, {9, 20}} { // classes appear one by one
				put(t, &b, encoded("", []int{cut[1] - cut[0], p.d}, p.h[cut[0]*p.d:cut[1]*p.d], dtype, cut[0] == 1, cut[0] == 9))
				y := append([]int64(nil), p.y[cut[0]:cut[1]]...)
				for i := range y {
					y[i] += shift
				}
				put(t, &b, arrayfile.Of("", []int{len(y)}, y))
			}
			whole := append([]byte(nil), b.Bytes()...)
			one, err := Stream(&b, Request{}, measure.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := one.Report(measure.Options{})
			if err != nil {
				t.Fatal(err)
			}
			relative := 1e-9
			if dtype == arrayfile.F32 {
				relative = 1e-4 // the numbers themselves are rounded
			}
			near(t, fmt.Sprint(dtype), r, map[string]float64{"nc1_pinv": p.want["nc1_pinv"], "trace_within": p.want["trace_within"], "nc2_means_of": p.want["nc2_means_of"]}, relative, 1e-10)
			if (one.Values() != nil) != (shift != 0) || r.K != p.k || r.N != 20 {
				t.Errorf("shift %d: values %v, K %d, N %d", shift, one.Values(), r.K, r.N)
			}
			for n := 1; n < len(whole); n += 61 { // any cut is an error, but between pairs
				if _, err := Stream(bytes.NewReader(whole[:n]), Request{}, measure.Options{}); err == nil && !pairEnd(whole, n) {
					t.Errorf("%d of %d bytes are read without an error", n, len(whole))
				}
			}
		}
	}
}

func put(t *testing.T, w io.Writer, a arrayfile.Array) {
	t.Helper()
	if err := arrayfile.WriteNPY(w, a); err != nil {
		t.Fatal(err)
	}
}

// pairEnd reports whether a pair of records ends at byte n.
func pairEnd(b []byte, n int) bool {
	starts := 0
	for i := range n {
		if bytes.HasPrefix(b[i:], []byte("\x93NUMPY")) {
			starts++
		}
	}
	return starts%2 == 0 && (n == len(b) || bytes.HasPrefix(b[n:], []byte("\x93NUMPY")))
}

func TestBadStreams(t *testing.T) {
	record := func(arrays ...arrayfile.Array) []byte {
		var b bytes.Buffer
		for _, a := range arrays {
			put(t, &b, a)
		}
		return b.Bytes()
	}
	h := arrayfile.Of("", []int{2, 3}, make([]float32, 6))
	y := arrayfile.Of("", []int{2}, []int64{0, 1})
	huge := bytes.Replace(record(h), []byte("(2, 3), }"), []byte("(99999999999, 3), }"), 1)
	huge = append(huge[:118:118], huge[128:]...)
	endless := bytes.Replace(huge, []byte("(99999999999, 3), }      "), []byte("(99999999999999999, 3), }"), 1)
	within := bytes.Replace(record(h), []byte("(2, 3), }   "), []byte("(99999, 3), }"), 1)
	within = append(within[:118:118], within[119:]...)
	for name, c := range map[string]struct {
		stream []byte
		req    Request
		want   string
	}{
		"empty":                       {nil, Request{}, "standard input is empty"},
		"another number of classes":   {record(h, y), asked(files(t, map[string]arrayfile.Array{"w.npy": h}), "weights=w.npy classes=3"), "w.npy has 2 rows; want one for each class"},
		"no labels":                   {record(h), Request{}, "ends after features"},
		"labels first":                {record(y, h), Request{}, "want features"},
		"one label too few":           {record(h, arrayfile.Of("", []int{1}, []int64{0})), Request{}, "record 2"},
		"another width":               {record(h, y, arrayfile.Of("", []int{2, 2}, make([]float32, 4)), y), Request{}, "2 wide, those before 3"},
		"label out of range":          {record(h, y), Request{Classes: 1}, "sample 1 has label 1"},
		"labels that are not numbers": {record(h, arrayfile.Of("", []int{2}, []float64{0, .5})), Request{}, "whole number"},
		"not npy":                     {[]byte("hello there, this is text"), Request{}, "NUMPY"},
		"claims of 2⁴⁰ bytes":         {huge, Request{}, "claims 1199999999988 bytes: this takes 1.2 TB of memory"},
		"claims of 10¹⁸ elements":     {endless, Request{}, "send smaller records"},
		"claims within the limit":     {within, Request{}, "stream ends after"},
		"classes of no sample":        {record(h, y), Request{Classes: 2_000_000_000}, "2000000000 classes of width 3"},
		"classes beyond all numbers":  {record(h, y), Request{Classes: math.MaxInt}, "more memory than any machine has"},
		"NaN":                         {record(arrayfile.Of("", []int{2, 3}, []float64{1, 2, 3, 4, math.NaN(), 6}), y), Request{}, "row 1, column 1"},
	} {
		var err error
		spent := allocated(func() { _, err = Stream(bytes.NewReader(c.stream), c.req, measure.Options{}) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if spent > 16<<20 {
			t.Errorf("%s: %d bytes were allocated for a stream of %d", name, spent, len(c.stream))
		}
	}
}
