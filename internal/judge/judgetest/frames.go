package judgetest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// WriteFrame saves a frame in a run's folder, of k classes at unit vectors times size, with samples around them.
func WriteFrame(t *testing.T, dir string, epoch, k, d int, size float64, noise float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(epoch), 1))
	const each = 20
	m := each * k
	h, y, means, counts := make([]float32, m*d), make([]int32, m), make([]float32, k*d), make([]int64, k)
	for i := range m {
		y[i] = int32(i % k)
		h[i*d+i%k] = float32(size)
		for j := range d {
			h[i*d+j] += float32(noise * rng.NormFloat64())
		}
	}
	for c := range k {
		means[c*d+c], counts[c] = float32(size), 1000
	}
	truth := append([]int32{1}, y[1:]...) // sample 0, of class 1, is trained as class 0
	path := filepath.Join(dir, "frames", strconv.Itoa(epoch)+".npz")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := arrayfile.WriteNPZ(f, []arrayfile.Array{
		arrayfile.Of("h", []int{m, d}, h), arrayfile.Of("observed", []int{m}, y), arrayfile.Of("true", []int{m}, truth),
		arrayfile.Of("means", []int{k, d}, means), arrayfile.Of("counts", []int{k}, counts),
		arrayfile.Of("weight", []int{k, d}, means), arrayfile.Of("bias", []int{k}, make([]float32, k)),
	}); err != nil {
		t.Fatal(err)
	}
}
