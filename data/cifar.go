package data

import (
	"fmt"
	"io"
	"path/filepath"

	"collapse.example/collapse/internal/inputfile"
)

// The binary version of CIFAR is a row of records without any header: one label byte (CIFAR-100: a coarse and a fine one), then
// 32×32 bytes of red, of green and of blue, row by row (Krizhevsky, www.cs.toronto.edu/~kriz/cifar.html).
const cifarPixels = 3 * 32 * 32

func readCIFAR10(info *Info, dir string, split Split, _ int) (*Set, error) {
	if split == Test {
		return readCIFAR(info, split, 1, filepath.Join(dir, "test_batch.bin"))
	}
	paths, err := cifarBatches(dir)
	if err != nil {
		return nil, err
	}
	return readCIFAR(info, split, 1, paths...)
}

func readCIFAR100(info *Info, dir string, split Split, _ int) (*Set, error) {
	return readCIFAR(info, split, 2, filepath.Join(dir, split.String()+".bin"))
}

// cifarBatches lists the existing training files: the first few of the five official ones.
func cifarBatches(dir string) ([]string, error) {
	var paths []string
	absent := ""
	for n := 1; n <= 5; n++ {
		path := plainPath(dir, fmt.Sprintf("data_batch_%d.bin", n))
		switch {
		case path == "" && absent == "":
			absent = fmt.Sprintf("data_batch_%d.bin", n)
		case path != "" && absent != "":
			return nil, fmt.Errorf("data: %s exists but the earlier %s does not; fetch the set again", path, absent)
		case path != "":
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// readCIFAR reads records with the given number of label bytes, the last of which is the label. The result is not
// sealed.
func readCIFAR(info *Info, split Split, labelBytes int, paths ...string) (*Set, error) {
	s := &Set{Name: info.Name, Split: split, Classes: info.Classes, Shape: info.Shape, Norm: info.Norm}
	for _, path := range paths {
		if err := s.addCIFAR(path, labelBytes); err != nil {
			return nil, fmt.Errorf("data: %s: %w", path, err)
		}
	}
	return s, nil
}

// addCIFAR appends the records of a file.
func (s *Set) addCIFAR(path string, labelBytes int) error {
	f, err := inputfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	record := int64(labelBytes + cifarPixels)
	switch n := info.Size(); {
	case n == 0 || n%record != 0:
		return fmt.Errorf("it has %d bytes, which is not a multiple of the record size %d; it was cut short or is not the binary version, fetch it again", n, record)
	case n/record*cifarPixels > maxPixels-int64(len(s.Pixels)):
		return fmt.Errorf("it has %d images; at most %d bytes of pixels are read", n/record, maxPixels)
	default:
		return s.addRecords(f, int(n/record), labelBytes)
	}
}

func (s *Set) addRecords(r io.Reader, n, labelBytes int) error {
	record := labelBytes + cifarPixels
	all, err := readGrowing(r, n*record)
	if err != nil {
		return err
	}
	grown := make([]uint8, len(s.Pixels), len(s.Pixels)+n*cifarPixels)
	copy(grown, s.Pixels)
	s.Pixels = grown
	for i := range n {
		one := all[i*record : (i+1)*record]
		label := int32(one[labelBytes-1])
		if int(label) >= s.Classes {
			return fmt.Errorf("image %d has label %d; %s has labels 0 to %d: is it the right file?", i, label, s.Name, s.Classes-1)
		}
		s.True = append(s.True, label)
		s.Pixels = append(s.Pixels, one[labelBytes:]...)
	}
	return nil
}
