package data

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // formats that image.Decode knows
	_ "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"collapse.example/collapse/internal/inputfile"
)

// folderName is the set made of any directory with train/ and test/, each of which has a folder of PNG or JPEG images for every
// class. Classes and images are ordered by name. All become RGB, as in torchvision's ImageFolder; transparency is dropped.
const folderName = "folder"

// Limits for decoding one image.
const (
	maxImage     = 1 << 24 // pixels: 4096×4096
	maxImageFile = 256 << 20
	maxScans     = 1000 // scans of a progressive JPEG, each of which covers all pixels; 10 are usual
)

// maxFolderClasses is the most classes that a folder may have.
const maxFolderClasses = 10000

// labelledFile is an image of a folder.
type labelledFile struct {
	path  string
	class int32
}

// readFolder reads one split; a size above 0 resizes every image to size×size as torchvision's Resize((size, size)) does. The result
// is not sealed.
func readFolder(info *Info, dir string, split Split, size int) (*Set, error) {
	classes, err := folderClasses(dir)
	if err != nil {
		return nil, err
	}
	files, err := folderFiles(filepath.Join(dir, split.String()), classes)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: info.Name, Split: split, Classes: len(classes), Shape: Shape{3, size, size}, Norm: info.Norm}
	if size == 0 {
		if s.Shape.H, s.Shape.W, err = imageSize(files[0].path); err != nil {
			return nil, err
		}
	}
	d := s.Shape.Dim()
	if len(files) > maxPixels/d {
		return nil, fmt.Errorf("data: %s: %d images of %d×%d have more than %d bytes of pixels; make them smaller with data.size", dir, len(files), s.Shape.H, s.Shape.W, maxPixels)
	}
	if size == 0 && len(files) > freePixels/d {
		if packed := fileBytes(files); len(files) > mostPixels(packed)/d {
			return nil, fmt.Errorf("data: %s: %d images of %d×%d have %d times the %d bytes of their files, and at most %d times are read; make them smaller with data.size", dir, len(files), s.Shape.H, s.Shape.W, int64(len(files)*d)/max(packed, 1), packed, ratioPixels)
		}
	}
	s.Pixels, s.True = make([]uint8, len(files)*d), make([]int32, len(files))
	if err := s.decodeAll(files, size != 0); err != nil {
		return nil, err
	}
	return s, nil
}

// folderClasses lists the folders of train/ and checks that test/ has the same.
func folderClasses(dir string) ([]string, error) {
	var classes [2][]string
	for split := range classes {
		path := filepath.Join(dir, Split(split).String())
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(path, e.Name())) // follows links
			if err != nil {
				return nil, fmt.Errorf("data: %w", err)
			}
			if info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				classes[split] = append(classes[split], e.Name())
			}
		}
	}
	if n := len(classes[Train]); n < 2 || n > maxFolderClasses {
		return nil, fmt.Errorf("data: %s has %d class folders; 2 to %d are read", filepath.Join(dir, "train"), n, maxFolderClasses)
	}
	for _, c := range slices.Concat(classes[Train], classes[Test]) {
		for split := range classes {
			if !slices.Contains(classes[split], c) {
				return nil, fmt.Errorf("data: %s: there is no folder for class %q, which the other half has", filepath.Join(dir, Split(split).String()), c)
			}
		}
	}
	return classes[Train], nil
}

// folderFiles lists the images of all classes. Other files are ignored.
func folderFiles(dir string, classes []string) ([]labelledFile, error) {
	var files []labelledFile
	for k, c := range classes {
		path := filepath.Join(dir, c)
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
		before := len(files)
		for _, e := range entries {
			switch strings.ToLower(filepath.Ext(e.Name())) {
			case ".png", ".jpg", ".jpeg":
				if !strings.HasPrefix(e.Name(), ".") {
					files = append(files, labelledFile{filepath.Join(path, e.Name()), int32(k)})
				}
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("data: %s holds no image; want files that end in .png, .jpg or .jpeg", path)
		}
	}
	return files, nil
}

// fileBytes adds up the sizes of files; a file without a known size will fail when it is read.
func fileBytes(files []labelledFile) (n int64) {
	for _, f := range files {
		if info, err := os.Stat(f.path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// decodingLarge allows decoding only one image at a time among those far larger than their files: a pixel takes up to 20 bytes.
var decodingLarge sync.Mutex

// decodeAll decodes on all cores. It returns the error of the first file that fails.
func (s *Set) decodeAll(files []labelledFile, resized bool) error {
	var mu sync.Mutex
	firstBad, bad := len(files), error(nil)
	parallel(len(files), func(first, end int) {
		r := resizer{to: s.Shape, any: resized}
		for i := first; i < end; i++ {
			s.True[i] = files[i].class
			if err := r.read(s.Image(i), files[i].path); err != nil {
				mu.Lock()
				if i < firstBad {
					firstBad, bad = i, err
				}
				mu.Unlock()
				return
			}
		}
	})
	return bad
}

// imageSize reads height and width of an image without decoding it.
func imageSize(path string) (h, w int, err error) {
	b, err := inputfile.Read(path, maxImageFile)
	if err != nil {
		return 0, 0, fmt.Errorf("data: %w", err)
	}
	return sizeOf(b, path)
}

func sizeOf(b []byte, path string) (h, w int, err error) {
	c, kind, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return 0, 0, fmt.Errorf("data: %s: %w", path, err)
	}
	if n := bytes.Count(b, []byte("\xff\xda")); kind == "jpeg" && n > maxScans {
		return 0, 0, fmt.Errorf("data: %s: the image has %d scans; at most %d are decoded, save it again with fewer", path, n, maxScans)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxImage/c.Height {
		return 0, 0, fmt.Errorf("data: %s: the image is %d×%d; at most %d pixels are decoded, make it smaller", path, c.Height, c.Width, maxImage)
	}
	return c.Height, c.Width, nil
}

// resizer decodes images one after another into planes of one size.
type resizer struct {
	to           Shape
	any          bool // images of other sizes are resized; else they are errors
	plans        map[[2]int]*resize
	rgb, scratch []uint8
}

func (r *resizer) read(dst []uint8, path string) error {
	b, err := inputfile.Read(path, maxImageFile)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	h, w, err := sizeOf(b, path)
	if err != nil {
		return err
	}
	same := h == r.to.H && w == r.to.W
	if !same && !r.any {
		return fmt.Errorf("data: %s: the image is %d×%d, the first one %d×%d; set data.size to resize all to one size", path, h, w, r.to.H, r.to.W)
	}
	if 3*h*w > ratioPixels*len(b) {
		decodingLarge.Lock()
		defer decodingLarge.Unlock()
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("data: %s: %w", path, err)
	}
	if size := img.Bounds(); size.Dx() != w || size.Dy() != h {
		return fmt.Errorf("data: %s: the image is %d×%d, its header says %d×%d", path, size.Dy(), size.Dx(), h, w)
	}
	if same {
		rgbPlanes(dst, img)
		return nil
	}
	r.resize(dst, img, h, w)
	return nil
}

func (r *resizer) resize(dst []uint8, img image.Image, h, w int) {
	r.rgb = slices.Grow(r.rgb[:0], 3*h*w)[:3*h*w]
	r.scratch = slices.Grow(r.scratch[:0], h*r.to.W)[:h*r.to.W]
	rgbPlanes(r.rgb, img)
	rows, columns := r.plan(w, r.to.W), r.plan(h, r.to.H)
	n := r.to.H * r.to.W
	for c := range 3 {
		resample(dst[c*n:(c+1)*n], r.rgb[c*h*w:(c+1)*h*w], r.scratch, rows, columns)
	}
}

// plan keeps the weights of each pair of lengths.
func (r *resizer) plan(from, to int) *resize {
	key := [2]int{from, to}
	if r.plans == nil {
		r.plans = map[[2]int]*resize{}
	}
	if r.plans[key] == nil {
		r.plans[key] = newResize(from, to)
	}
	return r.plans[key]
}

// rgbPlanes writes red, green and blue of an image, whatever its kind.
func rgbPlanes(dst []uint8, img image.Image) {
	b := img.Bounds()
	n := b.Dx() * b.Dy()
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			dst[i], dst[n+i], dst[2*n+i] = c.R, c.G, c.B
			i++
		}
	}
}
