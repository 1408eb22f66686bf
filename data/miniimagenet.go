package data

import (
	"fmt"
	"path/filepath"

	"collapse.example/collapse/arrayfile"
)

// miniFiles are the three pickles of miniImageNet that circulate (Ren et al. 2018): 64, 16 and 20 classes for few-shot learning.
// Each is a dict of image_data, N×84×84×3 bytes, and class_dict, the numbers of the images of every class.
var miniFiles = []string{"mini-imagenet-cache-train.pkl", "mini-imagenet-cache-val.pkl", "mini-imagenet-cache-test.pkl"}

// readMini merges the three files into one set of all classes, in their order, as Zhou et al. 2022 do: of each class's images
// the first five sixths (500 of 600) are for training, the last sixth for test. The result is not sealed.
func readMini(info *Info, dir string, split Split, _ int) (*Set, error) {
	s := &Set{Name: info.Name, Split: split, Shape: info.Shape, Norm: info.Norm}
	seen := map[string]bool{}
	for _, name := range miniFiles {
		path := filepath.Join(dir, name)
		if err := s.addMini(path, seen); err != nil {
			return nil, fmt.Errorf("data: %s: %w", path, err)
		}
	}
	if s.Classes > info.Classes {
		return nil, fmt.Errorf("data: %s: the three files have %d classes; %s has %d", dir, s.Classes, info.Name, info.Classes)
	}
	return s, nil
}

// addMini appends the images of a file that belong to the split.
func (s *Set) addMini(path string, seen map[string]bool) error {
	return arrayfile.ReadPickle(path, func(p arrayfile.Pickle) error { return s.addMiniPickle(p, seen) })
}

func (s *Set) addMiniPickle(p arrayfile.Pickle, seen map[string]bool) error {
	images, err := miniImages(p, s.Shape)
	if err != nil {
		return err
	}
	keep, err := s.miniClasses(p, len(images)/s.Shape.Dim(), seen)
	if err != nil {
		return err
	}
	d := s.Shape.Dim()
	if len(keep) > (maxPixels-len(s.Pixels))/d {
		return fmt.Errorf("with its %d images the set has more than %d bytes of pixels, which is the most that is read", len(keep), maxPixels)
	}
	grown := make([]uint8, len(s.Pixels)+len(keep)*d)
	to := grown[copy(grown, s.Pixels):]
	s.Pixels = grown
	return parallelRead(len(keep), func(first, end int) {
		for i := first; i < end; i++ {
			planes(to[i*d:(i+1)*d], images[keep[i]*d:(keep[i]+1)*d], s.Shape)
		}
	})
}

func miniImages(p arrayfile.Pickle, shape Shape) ([]uint8, error) {
	v, err := p.Get("image_data")
	if err != nil {
		return nil, err
	}
	a, err := v.Array()
	if err != nil {
		return nil, err
	}
	if a.DType != arrayfile.U8 || len(a.Shape) != 4 || a.Shape[1] != shape.H || a.Shape[2] != shape.W || a.Shape[3] != shape.C {
		return nil, fmt.Errorf("image_data is %v of %s; want N×%d×%d×%d of U8", a.Shape, a.DType, shape.H, shape.W, shape.C)
	}
	return a.Canonical().Data, nil
}

// miniClasses appends the labels of the split's images and returns their numbers in the file.
func (s *Set) miniClasses(p arrayfile.Pickle, n int, seen map[string]bool) (keep []int, err error) {
	v, err := p.Get("class_dict")
	if err != nil {
		return nil, err
	}
	classes, err := v.Items()
	if err != nil {
		return nil, err
	}
	all := 0
	for _, c := range classes {
		if seen[c.Key] {
			return nil, fmt.Errorf("class %q occurs twice in the three files; is one of them there twice?", c.Key)
		}
		seen[c.Key] = true
		members, err := c.Value.Ints()
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", c.Key, err)
		}
		if all += len(members); all > n {
			return nil, fmt.Errorf("its classes list %d images or more, but it holds %d", all, n)
		}
		cut := len(members) - len(members)/6
		if s.Split == Train {
			members = members[:cut]
		} else {
			members = members[cut:]
		}
		for _, i := range members {
			if i < 0 || i >= int64(n) {
				return nil, fmt.Errorf("class %q has image %d of %d", c.Key, i, n)
			}
			keep = append(keep, int(i))
			s.True = append(s.True, int32(s.Classes))
		}
		s.Classes++
	}
	return keep, nil
}

// planes writes channel after channel what src holds pixel after pixel.
func planes(dst, src []uint8, shape Shape) {
	n := shape.H * shape.W
	for i := range n {
		for c := range shape.C {
			dst[c*n+i] = src[i*shape.C+c]
		}
	}
}
