package measure

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure/internal/wide"
)

// bitsChild marks the process that TestBitsDependOnTheKernelsNameAlone starts.
const bitsChild = "COLLAPSE_TEST_BITS"

// bitsSets are sets of float32 for the wide pass, from noise to residuals that are rounding alone, and to none. The
// largest has samples enough for products whose errors average out.
func bitsSets(short bool) map[string]Input[float32] {
	type shape struct{ n, d, k int } // of the share: the same kinds with less work, still beyond the dense pass
	classes, features, etf := longtest.Of(shape{168, 828, 42}, shape{1000, 300, 130}), longtest.Of(shape{520, 134, 260}, shape{1500, 70, 500}), longtest.Of(shape{126, 828, 42}, shape{600, 300, 120})
	sets := map[string]Input[float32]{}
	all := []float32{1, .05, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-12, 0}
	for _, spread := range longtest.Of([]float32{1, 1e-6}, all) {
		sets[fmt.Sprintf("few classes %g", spread)] = bitsSet(classes.n, classes.d, classes.k, spread)
	}
	for _, spread := range longtest.Of([]float32{1e-6, 0}, all) {
		sets[fmt.Sprintf("few features %g", spread)] = bitsSet(features.n, features.d, features.k, spread)
	}
	for _, spread := range longtest.Of([]float32{1, 0}, all) {
		sets[fmt.Sprintf("etf %g", spread)] = simplex(etf.n, etf.d, etf.k, float64(spread))
	}
	if !short {
		sets["large"] = bitsSet(26000, 1024, 1000, .5)
	}
	return sets
}

// bitsSet makes n samples of k classes of width d; the features of a class are its mean where spread is 0.
func bitsSet(n, d, k int, spread float32) Input[float32] {
	state := uint64(1)
	uniform := func() float32 {
		state = state*6364136223846793005 + 1442695040888963407
		return float32(int32(state>>32)) * 0x1p-31
	}
	means := make([]float32, k*d)
	in := Input[float32]{Classes: k, W: make([]float64, k*d), B: make([]float64, k)}
	for i := range means {
		means[i] = uniform()
		in.W[i] = float64(means[i] + .1*uniform())
	}
	h, labels := make([]float32, n*d), make([]int32, n)
	for i := range labels {
		c := i % k
		labels[i] = int32(c)
		for j := range d {
			h[i*d+j] = means[c*d+j] + spread*uniform()
		}
	}
	in.Train = Memory(h, d, labels)
	return in
}

// writeBits prints every number of a report.
func writeBits(to *strings.Builder, name string, r *Report) {
	fmt.Fprintf(to, "BITS %s: %d measures\n", name, len(r.Measures.of))
	for _, key := range slices.Sorted(maps.Keys(r.Measures.of)) {
		fmt.Fprintf(to, "BITS %s %s %016x %.17g\n", name, key, math.Float64bits(r.Measures.of[key]), r.Measures.of[key])
	}
	lists := map[string]Vector{"margins": r.Margins}
	maps.Copy(lists, r.PerClass)
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		var b []byte
		for _, x := range lists[key] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		fmt.Fprintf(to, "BITS %s list %s of %d: %x\n", name, key, len(lists[key]), sha256.Sum256(b))
	}
}

// TestPrintBits is the other process of TestBitsDependOnTheKernelsNameAlone.
func TestPrintBits(t *testing.T) {
	if os.Getenv(bitsChild) == "" {
		t.Skip("run by TestBitsDependOnTheKernelsNameAlone")
	}
	var out strings.Builder
	fmt.Fprintf(&out, "KERNEL %s, fast pairs %v\n", isa.Name(), gemm.FastInt16())
	sets := bitsSets(os.Getenv(bitsChild) == "short")
	for i, name := range slices.Sorted(maps.Keys(sets)) {
		in := sets[name]
		if _, d := in.Train.Features.Size(); !wide.Due(in.Classes, d) {
			t.Fatalf("%s does not take the wide pass", name)
		}
		for _, im := range []Imbalance{PerSample, PerClass} {
			if name == "large" && im == PerClass || !longtest.Whole() && im != []Imbalance{PerSample, PerClass}[i%2] { // in the share one of each kind by either
				continue
			}
			opt := Options{Imbalance: im, KeepMargins: true, KeepMeans: true}
			writeBits(&out, name+" by "+im.String(), mustMeasure(t, in, opt))
		}
	}
	fmt.Print(out.String())
}

// printedBits runs TestPrintBits in another process with features of the processor hidden, and returns what kernel it had and
// the bits it printed.
func printedBits(t *testing.T, size, name, hidden string) (ran string, bits []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPrintBits$", "-test.count=1")
	cmd.Env = append(os.Environ(), bitsChild+"="+size, "COLLAPSE_KERNEL="+name, "GODEBUG="+hidden)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.Bytes())
	}
	for line := range strings.Lines(string(out)) {
		if after, ok := strings.CutPrefix(line, "KERNEL "); ok {
			ran = strings.TrimSpace(after)
		}
		if strings.HasPrefix(line, "BITS ") {
			bits = append(bits, line)
		}
	}
	return ran, bits
}

// One kernel name has one set of bits: processors that lack features its name does not promise, such as VNNI of avx512,
// print the same numbers.
func TestBitsDependOnTheKernelsNameAlone(t *testing.T) {
	longtest.Only(t)
	const noAVX512 = "cpu.avx512f=off,cpu.avx512bw=off,cpu.avx512vl=off,cpu.avx512dq=off,cpu.avx512vnni=off"
	for _, c := range []struct {
		name, hidden string
		fast         bool // products of words are fast before features are hidden
	}{{"avx512", "cpu.avx512vnni=off", true}, {"avx2", noAVX512, false}, {"generic", noAVX512 + ",cpu.avx2=off,cpu.fma=off", false}} {
		t.Run(c.name, func(t *testing.T) {
			if !slices.Contains(isa.Available(), c.name) {
				t.Skipf("this processor cannot run %s", c.name)
			}
			size := "short"
			if c.fast && longtest.Whole() {
				size = "all"
			}
			ran, want := printedBits(t, size, c.name, "")
			if ran != fmt.Sprintf("%s, fast pairs %v", c.name, c.fast) {
				t.Skipf("there is nothing to hide: %s", ran)
			}
			ran, got := printedBits(t, size, c.name, c.hidden)
			if ran != c.name+", fast pairs false" {
				t.Fatalf("nothing was hidden: %s", ran)
			}
			compareBits(t, got, want)
		})
	}
}

// compareBits fails unless both list the same numbers of all sets.
func compareBits(t *testing.T, got, want []string) {
	t.Helper()
	if len(want) < longtest.Of(6, 54)*40 || len(got) != len(want) {
		t.Fatalf("%d lines, and %d with features hidden", len(want), len(got))
	}
	different := 0
	for i, line := range want {
		if got[i] != line {
			if different++; different <= 6 {
				t.Errorf("%swith features hidden %s", line, got[i])
			}
		}
	}
	if different > 6 {
		t.Errorf("%d of %d lines differ", different, len(want))
	}
}
