package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Split says which half of a data set is meant.
type Split uint8

const (
	Train Split = iota
	Test
)

// String returns "train" or "test".
func (s Split) String() string {
	if s == Test {
		return "test"
	}
	return "train"
}

// Shape is the size of one image: channels, height, width.
type Shape struct{ C, H, W int }

// Dim returns C·H·W, the number of values of one image.
func (s Shape) Dim() int { return s.C * s.H * s.W }

// Set is a labelled image set in memory. It is not changed after it is made; subsets and noise
// return new sets (noise shares the pixels).
type Set struct {
	Name     string
	Split    Split
	Classes  int     // K: labels are in [0, K), and every class has at least one sample
	Latent   bool    // observed classes K/2…K−1 are latent noise classes of 0…K/2−1, where all true labels are; see NoiseLatent
	Shape    Shape   // of one image
	Norm     string  // which constants the papers normalise its pixels with; see NormNamed. "": NormMNIST
	Pixels   []uint8 // N×C×H×W, 0 is black
	True     []int32 // N labels as the source has them
	Observed []int32 // N labels to train on; equal to True without label noise
	Redrawn  []bool  // N; true where label noise drew a label, be it the same one again, or moved a sample to its latent class
	Digest   string  // SHA-256, in hex, of sizes, pixels and true labels; see seal
}

// N returns the number of samples.
func (s *Set) N() int { return len(s.True) }

// TrueClasses returns the number of classes that true labels have: Classes, or half of it with latent noise classes.
func (s *Set) TrueClasses() int {
	if s.Latent {
		return s.Classes / 2
	}
	return s.Classes
}

// Fold returns the original class of an observed or predicted label: a latent class is folded into the one it was split from, every
// other class is its own.
func (s *Set) Fold(label int32) int32 {
	if k := int32(s.TrueClasses()); label >= k {
		return label - k
	}
	return label
}

// Image returns the C×H×W pixels of sample i, a view.
func (s *Set) Image(i int) []uint8 {
	d := s.Shape.Dim()
	return s.Pixels[i*d : (i+1)*d]
}

// Counts returns the number of samples of each class by true label, length TrueClasses.
func (s *Set) Counts() []int { return histogram(s.True, s.TrueClasses()) }

// ObservedCounts returns the number of samples of each class by observed label, length Classes.
func (s *Set) ObservedCounts() []int { return histogram(s.Observed, s.Classes) }

func histogram(labels []int32, classes int) []int {
	count := make([]int, classes)
	for _, l := range labels {
		count[l]++
	}
	return count
}

// seal completes a set whose name, sizes, pixels and true labels are given: without noise, with
// its digest. The digest does not see names, paths or noise, so equal content has equal digests.
func (s *Set) seal() *Set {
	s.Observed = append([]int32(nil), s.True...)
	s.Redrawn = make([]bool, len(s.True))
	h := sha256.New()
	head := []byte("collapse data set 1\n")
	for _, v := range []int{s.N(), s.Shape.C, s.Shape.H, s.Shape.W, s.Classes} {
		head = binary.LittleEndian.AppendUint64(head, uint64(v))
	}
	h.Write(head)
	h.Write(s.Pixels)
	labels := make([]byte, 0, 4*s.N())
	for _, l := range s.True {
		labels = binary.LittleEndian.AppendUint32(labels, uint32(l))
	}
	h.Write(labels)
	s.Digest = hex.EncodeToString(h.Sum(nil))
	return s
}

// empty returns an error that names the first class without a sample, or nil.
func (s *Set) empty() error {
	for k, n := range s.Counts() {
		if n == 0 {
			return fmt.Errorf("data: %s %s: class %d has no sample among %d; ask for fewer classes or check the files with `collapse data check`",
				s.Name, s.Split, k, s.N())
		}
	}
	return nil
}
