package featurefiles

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// problem is the formula features of docs/internal/formulas.md with the values of every measure, computed apart from
// this program.
type problem struct {
	k, n, d int
	h, w, b []float64
	y       []int64
	want    map[string]float64
}

func newProblem(k, n, d int, want map[string]float64) problem {
	p := problem{k: k, n: n, d: d, want: want}
	for c := range k {
		for i := range n {
			for j := range d {
				p.h = append(p.h, math.Sin(.37*float64(c+1)*float64(j+1)+.5*float64(c))+.25*math.Cos(1.1*float64(i+1)*float64(j+2)+.7*float64(c)))
			}
			p.y = append(p.y, int64(c))
		}
		for j := range d {
			p.w = append(p.w, math.Sin(.37*float64(c+1)*float64(j+1)+.5*float64(c))+.1*math.Cos(.9*float64(c+2)*float64(j+1)))
		}
		p.b = append(p.b, .1*math.Sin(float64(1+c)))
	}
	return p
}

func problems() []problem {
	return []problem{
		newProblem(4, 5, 6, map[string]float64{
			"nc1_pinv": 0.0194315640, "rank_between": 3, "trace_within": 0.1499769651, "nc2_w": 0.2759463579, "nc2_means_etf": 0.3136197409,
			"nc2_means_etf_centred": 0.1616342775, "nc2_means_of": 0.3343694710, "nc3_gram": 0.1675452338, "nc3_direct": 0.1302873017,
			"nc4_bias": 0.9721981065, "numerical_rank": 1.7676398824, "cosine_margin_mean": 1.1678469607, "cosine_margin_min": 1.0309110149,
			"cosine_margin_max": 1.3044321745, "accuracy": 1, "nc4_ncc_mismatch": 0,
		}),
		newProblem(5, 6, 3, map[string]float64{
			"nc1_pinv": 0.9145652585, "rank_between": 3, "trace_within": 0.0944376970, "nc2_w": 0.7864582086, "nc2_means_etf": 0.7927830496,
			"nc2_means_etf_centred": 0.7604567655, "nc2_means_of": 0.8026065530, "nc3_gram": 0.7719877333, "nc3_direct": 0.0952092209,
			"nc4_bias": 0.5928538203, "numerical_rank": 1.5639659032, "cosine_margin_mean": 0.4702055258, "cosine_margin_min": 0.1003307242,
			"cosine_margin_max": 0.7824473311, "accuracy": 0.9, "nc4_ncc_mismatch": 0.1, "nc2_rank_d": 0.6362391648, "nc3_rank_d": 0.6145766662,
		}),
	}
}

// encoded makes an array of a type, layout and byte order. float16 and bfloat16 are cut, not rounded.
func encoded(name string, shape []int, v []float64, t arrayfile.DType, fortran, big bool) arrayfile.Array {
	a := arrayfile.Array{Header: arrayfile.Header{Name: name, DType: t, Shape: shape, Fortran: fortran, BigEndian: big && t.Size() > 1}}
	at := func(i int) float64 {
		if !fortran || len(shape) < 2 {
			return v[i]
		}
		return v[i%shape[0]*shape[1]+i/shape[0]]
	}
	for i := range v {
		var e [8]byte
		le := binary.LittleEndian
		switch x := at(i); t {
		case arrayfile.F64:
			le.PutUint64(e[:], math.Float64bits(x))
		case arrayfile.F32:
			le.PutUint32(e[:], math.Float32bits(float32(x)))
		case arrayfile.BF16:
			le.PutUint16(e[:], uint16(math.Float32bits(float32(x))>>16))
		case arrayfile.F16:
			le.PutUint16(e[:], half(float32(x)))
		default:
			le.PutUint64(e[:], uint64(int64(x)))
		}
		raw := e[:t.Size()]
		if a.BigEndian {
			slices.Reverse(raw)
		}
		a.Data = append(a.Data, raw...)
	}
	return a
}

// half cuts a number of moderate size to float16; below its normal numbers it becomes 0.
func half(x float32) uint16 {
	bits := math.Float32bits(x)
	exponent := int(bits>>23&0xff) - 127 + 15
	if exponent <= 0 {
		return uint16(bits >> 16 & 0x8000)
	}
	return uint16(bits>>16&0x8000) | uint16(exponent)<<10 | uint16(bits>>13&0x3ff)
}

func labelsOf(y []int64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = float64(v)
	}
	return out
}

// arrays are the problem's arrays under usual names.
func (p problem) arrays(t, label arrayfile.DType, fortran, big bool) []arrayfile.Array {
	return []arrayfile.Array{
		encoded("features", []int{p.k * p.n, p.d}, p.h, t, fortran, big), encoded("labels", []int{p.k * p.n}, labelsOf(p.y), label, false, big),
		encoded("weight", []int{p.k, p.d}, p.w, t, fortran, big), encoded("bias", []int{p.k}, p.b, t, false, big),
	}
}

// write makes files of arrays in a format and returns the request for them.
func write(t testing.TB, format string, arrays []arrayfile.Array) Request {
	t.Helper()
	dir := t.TempDir()
	save := func(name string, fill func(io.Writer) error) string {
		var b bytes.Buffer
		if err := fill(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	switch format {
	case "npz":
		return Request{Files: []string{save("a.npz", func(w io.Writer) error { return arrayfile.WriteNPZ(w, arrays) })}}
	case "safetensors":
		for i := range arrays {
			arrays[i] = arrays[i].Canonical()
		}
		return Request{Files: []string{save("a.safetensors", func(w io.Writer) error { return arrayfile.WriteSafetensors(w, arrays, nil) })}}
	case "npy by name":
		var req Request
		for _, a := range arrays {
			req.Files = append(req.Files, save(a.Name+".npy", func(w io.Writer) error { return arrayfile.WriteNPY(w, a) }))
		}
		return req
	}
	var req Request
	for r, a := range arrays {
		req.From[r] = []string{save(fmt.Sprintf("x%d.npy", r), func(w io.Writer) error { return arrayfile.WriteNPY(w, a) })}
	}
	return req
}

func measured(t testing.TB, req Request, opt measure.Options) *measure.Report {
	t.Helper()
	set, err := Open(req)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	r, err := set.Measure(len(set.Columns)-1, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// near fails unless the report holds the wanted values.
func near(t *testing.T, name string, r *measure.Report, want map[string]float64, relative, absolute float64) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: nothing to compare", name)
	}
	for key, v := range want {
		if got, ok := r.Measures.Get(key); !ok || !(math.Abs(got-v) <= relative*math.Abs(v)+absolute) {
			t.Errorf("%s: %s is %.12g (missing: %q), want %.12g", name, key, got, r.Missing[key], v)
		}
	}
}

// TestFormulaFeaturesInEveryFormatAndType measures the same numbers through every format, type, layout and
// byte order: float64 against the table, narrower types against the cut numbers held in memory as float64.
func TestFormulaFeaturesInEveryFormatAndType(t *testing.T) {
	labels := []arrayfile.DType{arrayfile.U8, arrayfile.I8, arrayfile.U16, arrayfile.I16, arrayfile.U32, arrayfile.I32, arrayfile.U64, arrayfile.I64, arrayfile.F32, arrayfile.F64}
	turn := 0
	for _, p := range problems() {
		for _, dtype := range []arrayfile.DType{arrayfile.F64, arrayfile.F32, arrayfile.F16, arrayfile.BF16} {
			for _, format := range []string{"npz", "safetensors", "npy by name", "npy by flag"} {
				for _, fortran := range []bool{false, true} {
					for _, big := range []bool{false, true} {
						label := labels[turn%len(labels)]
						turn++
						name := fmt.Sprintf("K=%d %s %v, labels %v, Fortran %v, big endian %v", p.k, format, dtype, label, fortran, big)
						arrays := p.arrays(dtype, label, fortran, big)
						if label.IsFloat() {
							arrays[1] = encoded("labels", arrays[1].Shape, labelsOf(p.y), label, false, big)
						}
						want := p.want
						relative, absolute := 0.0, 1e-9
						if dtype != arrayfile.F64 {
							want, relative = maps.Collect(inMemory(t, arrays).Measures.All()), 1e-5
						}
						near(t, name, measured(t, write(t, format, arrays), measure.Options{}), want, relative, absolute)
					}
				}
			}
		}
	}
}

// inMemory measures arrays as float64, with the rank cut-off of narrow features.
func inMemory(t *testing.T, arrays []arrayfile.Array) *measure.Report {
	t.Helper()
	var in measure.Input[float64]
	read := func(i int) []float64 {
		v, err := arrays[i].Float64s()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var labels []int32
	for _, v := range read(1) {
		labels = append(labels, int32(v))
	}
	in.Train = measure.Memory(read(0), arrays[0].Shape[1], labels)
	in.W, in.B = read(2), read(3)
	r, err := measure.Measure(in, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFilesOfNumpyAndTorch measures what testdata/make.py wrote.
func TestFilesOfNumpyAndTorch(t *testing.T) {
	want := problems()[0].want
	at := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join("testdata", n))
		}
		return paths
	}
	var flags, mixed Request
	flags.From[Features], flags.From[Labels] = at("features_fortran_big.npy"), at("labels_i2.npy")
	flags.From[Weights], flags.From[Bias] = at("weight.npy"), at("bias.npy")
	mixed.Files, mixed.From[Weights] = at("torch_lists.pt"), at("torch_model.pth")
	for name, req := range map[string]Request{
		"numpy.npz": {Files: at("numpy.npz")}, "keys.npz": {Files: at("keys.npz")}, "torch.pt": {Files: at("torch.pt")}, "separate npy": flags, "old pt and a model": mixed,
	} {
		near(t, name, measured(t, req, measure.Options{}), want, 0, 1e-9)
	}
}

func TestParquetWithTextLabels(t *testing.T) {
	type row struct {
		H     []float64 `parquet:"h,list"`
		Label string    `parquet:"label"`
	}
	p := problems()[0]
	words := []string{"ant", "bee", "cat", "dog"}
	var rows []row
	for i, y := range p.y {
		rows = append(rows, row{p.h[i*p.d : (i+1)*p.d], words[y]})
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	var req Request
	req.Files, req.From[Weights], req.From[Bias] = []string{path}, []string{"testdata/weight.npy"}, []string{"testdata/bias.npy"}
	req.ClassNames = words
	near(t, "parquet", measured(t, req, measure.Options{}), p.want, 0, 1e-9)
	set, err := Open(req)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if !slices.Equal(set.Values, words) {
		t.Errorf("classes are called %q, want %q", set.Values, words)
	}
	if _, err := set.OnePass(0, measure.Options{}); err == nil {
		t.Error("a state of text labels is made, whose numbers another shard would give to other words")
	}
}
