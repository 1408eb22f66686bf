package serve

import (
	"bytes"
	"math/rand/v2"
	"net/http"

	"collapse.example/collapse/arrayfile"
)

// exampleFile answers with a file that the measure page takes: features of ten classes that are partly collapsed, with labels and a
// classifier.
func (s *Server) exampleFile(w http.ResponseWriter, _ *http.Request) error {
	body, err := exampleNPZ()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="example.npz"`)
	w.Write(body) // a browser that has left is not our error
	return nil
}

func exampleNPZ() ([]byte, error) {
	const k, d, each = 10, 16, 60
	rng := rand.New(rand.NewPCG(1, 2))
	var h, weight []float32
	var labels []int64
	for range each {
		for class := range k {
			labels = append(labels, int64(class))
			for j := range d {
				v := 0.15 * rng.NormFloat64()
				if j == class {
					v++
				}
				h = append(h, float32(v))
			}
		}
	}
	for class := range k {
		for j := range d {
			v := 0.1 * rng.NormFloat64()
			if j == class {
				v++
			}
			weight = append(weight, float32(v))
		}
	}
	var b bytes.Buffer
	err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{k * each, d}, h), arrayfile.Of("labels", []int{k * each}, labels),
		arrayfile.Of("weight", []int{k, d}, weight)})
	return b.Bytes(), err
}
