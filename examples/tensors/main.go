// Command tensors lists the arrays of a file (npy, npz, safetensors, pt, Parquet or MATLAB) and the mean of each that holds numbers.
package main

import (
	"fmt"
	"log"
	"os"

	"collapse.example/collapse/arrayfile"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: tensors FILE…")
	}
	for _, path := range os.Args[1:] {
		if err := arrayfile.Read(path, list); err != nil {
			log.Fatal(err)
		}
	}
}

// list prints a line for each array. Its data lie in the mapped file and are gone once it returns.
func list(file *arrayfile.File) error {
	for _, header := range file.Headers() {
		array, err := file.Load(header.Name)
		if err != nil {
			return err
		}
		numbers, err := array.Float64s()
		if err != nil {
			fmt.Printf("%-20s %v %v\n", header.Name, header.Shape, header.DType)
			continue
		}
		var sum float64
		for _, x := range numbers {
			sum += x
		}
		fmt.Printf("%-20s %v %v, mean %.4g\n", header.Name, header.Shape, header.DType, sum/float64(len(numbers)))
	}
	return nil
}
