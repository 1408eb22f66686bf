package data

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// idxFiles are the names of MNIST's files, which Fashion-MNIST uses as well: images, then labels.
var idxFiles = [2][]string{
	Train: {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
	Test:  {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"},
}

// idxPath returns the path under which a file lies in dir: plain or gzipped, with a dash before idx
// or, as some archives unpack, with a dot. It returns "" if there is none.
func idxPath(dir, name string) string {
	for _, base := range []string{name, strings.Replace(name, "-idx", ".idx", 1)} {
		for _, ending := range []string{"", ".gz"} {
			path := filepath.Join(dir, base+ending)
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}

// readIDXSet reads one split of a set in MNIST's layout. The result is not sealed.
func readIDXSet(info *Info, dir string, split Split, _ int) (*Set, error) {
	imagePath, labelPath := idxPath(dir, info.files[split][0]), idxPath(dir, info.files[split][1])
	images, err := readIDXFile(imagePath, 3)
	if err != nil {
		return nil, err
	}
	labels, err := readIDXFile(labelPath, 1)
	if err != nil {
		return nil, err
	}
	shape := Shape{1, images.sizes[1], images.sizes[2]}
	if shape != info.Shape {
		return nil, fmt.Errorf("data: %s: images are %d×%d, those of %s are %d×%d", imagePath, shape.H, shape.W, info.Name, info.Shape.H, info.Shape.W)
	}
	if images.sizes[0] != labels.sizes[0] {
		return nil, fmt.Errorf("data: %s has %d images, %s has %d labels; the two files do not belong together", imagePath, images.sizes[0], labelPath, labels.sizes[0])
	}
	s := &Set{Name: info.Name, Split: split, Classes: info.Classes, Shape: shape, Norm: info.Norm, Pixels: images.data, True: make([]int32, len(labels.data))}
	for i, l := range labels.data {
		if int(l) >= info.Classes {
			return nil, fmt.Errorf("data: %s: label %d of sample %d is out of range; %s has labels 0 to %d", labelPath, l, i, info.Name, info.Classes-1)
		}
		s.True[i] = int32(l)
	}
	return s, nil
}
