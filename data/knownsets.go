package data

import (
	"os"
	"path/filepath"
)

// Info describes a data set that has a name.
type Info struct {
	Name     string
	Title    string
	Origin   string       // where its files come from; "" for the built-in set
	Classes  int          // the most classes it has
	Shape    Shape        // of its images; for glyphs the default; zero for a folder, whose images decide
	Norm     string       // constants for its pixels, see NormNamed
	Official [2]int       // samples of the official files by split; 0: not fixed
	Remote   []RemoteFile // what Get downloads; none: files are fetched by hand

	counts [2][]int                      // samples of each class in the official files by split; nil: as many of each
	gzip   bool                          // its files may be gzipped
	python string                        // the folder of the version in pickles, as torchvision makes it, which is not read; "": there is none
	dirs   []string                      // below the root, where its files may lie; "." is the root itself
	files  [2][]string                   // by split: the files it needs
	path   func(dir, name string) string // where a file or folder is in dir; "" if missing
	read   func(info *Info, dir string, split Split, size int) (*Set, error)
}

// BuiltIn says that the set is drawn by the program and needs no files.
func (i *Info) BuiltIn() bool { return i.read == nil }

// form says how files may lie.
func (i *Info) form() string {
	if i.gzip {
		return "plain or .gz"
	}
	return "unpacked"
}

// registry lists every named set once. A set of another file format adds its own read function.
var registry = []*Info{
	{Name: "glyphs", Title: "digits, letters and symbols drawn from Go's fonts", Classes: MaxGlyphClasses, Shape: Shape{1, 28, 28}, Norm: NormMNIST},
	{Name: "mnist", Title: "MNIST handwritten digits (LeCun, Cortes & Burges 1998)", Origin: "yann.lecun.com/exdb/mnist",
		Classes: 10, Shape: Shape{1, 28, 28}, Norm: NormMNIST, Official: [2]int{60000, 10000}, Remote: mnistFiles,
		counts: mnistCounts, gzip: true, dirs: []string{"mnist", "MNIST/raw"}, files: idxFiles, path: idxPath, read: readIDXSet},
	{Name: "fashion-mnist", Title: "Fashion-MNIST articles of clothing (Xiao, Rasul & Vollgraf 2017)", Origin: "github.com/zalandoresearch/fashion-mnist",
		Classes: 10, Shape: Shape{1, 28, 28}, Norm: NormMNIST, Official: [2]int{60000, 10000}, Remote: fashionFiles,
		gzip: true, dirs: []string{"fashion-mnist", "FashionMNIST/raw"}, files: idxFiles, path: idxPath, read: readIDXSet},
	{Name: "cifar-10", Title: "CIFAR-10 objects, binary version (Krizhevsky 2009)", Origin: "www.cs.toronto.edu/~kriz/cifar.html",
		Classes: 10, Shape: Shape{3, 32, 32}, Norm: NormCIFAR, Official: [2]int{50000, 10000}, Remote: cifar10Files,
		python: "cifar-10-batches-py", dirs: []string{"cifar-10-batches-bin", "cifar-10"}, files: [2][]string{{"data_batch_1.bin"}, {"test_batch.bin"}}, path: plainPath, read: readCIFAR10},
	{Name: "cifar-100", Title: "CIFAR-100 objects, binary version, fine labels (Krizhevsky 2009)", Origin: "www.cs.toronto.edu/~kriz/cifar.html",
		Classes: 100, Shape: Shape{3, 32, 32}, Norm: NormCIFAR, Official: [2]int{50000, 10000}, Remote: cifar100Files,
		python: "cifar-100-python", dirs: []string{"cifar-100-binary", "cifar-100"}, files: [2][]string{{"train.bin"}, {"test.bin"}}, path: plainPath, read: readCIFAR100},
	{Name: "svhn", Title: "SVHN street view house numbers, cropped digits (Netzer et al. 2011)", Origin: "ufldl.stanford.edu/housenumbers",
		Classes: 10, Shape: Shape{3, 32, 32}, Norm: NormCIFAR, Official: [2]int{73257, 26032}, Remote: svhnFiles,
		counts: svhnCounts, dirs: []string{"svhn", "SVHN"}, files: [2][]string{{"train_32x32.mat"}, {"test_32x32.mat"}}, path: plainPath, read: readSVHN},
	{Name: "mini-imagenet", Title: "miniImageNet, 100 classes of 84×84 (Vinyals et al. 2016)", Origin: "the mini-imagenet-cache pickles of Ren et al. 2018, github.com/renmengye/few-shot-ssl-public",
		Classes: 100, Shape: Shape{3, 84, 84}, Norm: NormImageNet, Official: [2]int{50000, 10000},
		dirs: []string{"mini-imagenet", "miniimagenet", "miniImageNet"}, files: [2][]string{miniFiles, miniFiles}, path: plainPath, read: readMini},
	{Name: folderName, Title: "your own folder: train/CLASS/*.png and test/CLASS/*.png (or JPEG)", Origin: "your own files",
		Classes: maxFolderClasses, Norm: NormImageNet, dirs: []string{"."}, files: [2][]string{{"train"}, {"test"}}, path: plainPath, read: readFolder},
}

// plainPath returns the path of a file or folder in dir, or "" if it does not exist.
func plainPath(dir, name string) string {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
