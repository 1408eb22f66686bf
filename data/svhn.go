package data

import (
	"fmt"
	"path/filepath"

	"collapse.example/collapse/arrayfile"
)

// readSVHN reads one split of SVHN's cropped digits (Netzer et al. 2011): a MATLAB file with the images X (32×32×3×N bytes, rows
// first) and the labels y (N numbers from 1 to 10, of which 10 is the digit 0). The result is not sealed.
func readSVHN(info *Info, dir string, split Split, _ int) (*Set, error) {
	path := filepath.Join(dir, info.files[split][0])
	s := &Set{Name: info.Name, Split: split, Classes: info.Classes, Shape: info.Shape, Norm: info.Norm}
	err := arrayfile.Read(path, func(f *arrayfile.File) (err error) {
		if s.True, err = svhnLabels(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if s.Pixels, err = svhnPixels(f, s.Shape, len(s.True)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	return s, nil
}

func svhnLabels(f *arrayfile.File) ([]int32, error) {
	y, err := f.Load("y")
	if err != nil {
		return nil, err
	}
	if len(y.Shape) != 2 || y.Shape[0] != 1 && y.Shape[1] != 1 || y.Len() == 0 {
		return nil, fmt.Errorf("labels y have shape %v; want N×1", y.Shape)
	}
	values, err := y.Int64s()
	if err != nil {
		return nil, err
	}
	labels := make([]int32, len(values))
	for i, v := range values {
		if v < 1 || v > 10 {
			return nil, fmt.Errorf("label %d of sample %d is out of range; SVHN has labels 1 to 10", v, i)
		}
		labels[i] = int32(v % 10)
	}
	return labels, nil
}

// svhnPixels turns columns, as MATLAB orders them, into rows.
func svhnPixels(f *arrayfile.File, shape Shape, n int) ([]uint8, error) {
	x, err := f.Load("X")
	if err != nil {
		return nil, err
	}
	want := []int{shape.H, shape.W, shape.C, n}
	if n == 1 && len(x.Shape) == 3 { // MATLAB drops a last axis of 1
		x.Shape = append(x.Shape[:3:3], 1)
	}
	if x.DType != arrayfile.U8 || !x.Fortran || fmt.Sprint(x.Shape) != fmt.Sprint(want) {
		return nil, fmt.Errorf("images X are %v of %s; want %v of U8", x.Shape, x.DType, want)
	}
	if len(x.Data) > maxPixels {
		return nil, fmt.Errorf("images X have %d bytes; at most %d are read", len(x.Data), maxPixels)
	}
	pixels := make([]uint8, len(x.Data))
	plane := shape.H * shape.W
	return pixels, parallelRead(n*shape.C, func(first, end int) {
		for i := first; i < end; i++ {
			transpose(pixels[i*plane:(i+1)*plane], x.Data[i*plane:(i+1)*plane], shape.H, shape.W)
		}
	})
}

// transpose writes rows of what src holds by columns.
func transpose(dst, src []uint8, h, w int) {
	for y := range h {
		for x := range w {
			dst[y*w+x] = src[x*h+y]
		}
	}
}
