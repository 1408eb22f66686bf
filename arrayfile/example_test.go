package arrayfile_test

import (
	"bytes"
	"fmt"

	"collapse.example/collapse/arrayfile"
)

// Bytes from anywhere, such as a download, are recognised by their content.
func ExampleParse() {
	var file bytes.Buffer
	if err := arrayfile.WriteNPZ(&file, []arrayfile.Array{
		arrayfile.Of("features", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6}),
		arrayfile.Of("labels", []int{2}, []int64{0, 1}),
	}); err != nil {
		panic(err)
	}

	f, err := arrayfile.Parse(file.Bytes())
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, h := range f.Headers() {
		array, err := f.Load(h.Name)
		if err != nil {
			panic(err)
		}
		numbers, err := array.Float64s()
		fmt.Println(h.Name, h.Shape, h.DType, numbers, err)
	}
	// Output:
	// features [2 3] F32 [1 2 3 4 5 6] <nil>
	// labels [2] I64 [0 1] <nil>
}
