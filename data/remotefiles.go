package data

// RemoteFile is a file that Get downloads. Its checksum comes from a public list, which Source names; we have not checked it.
type RemoteFile struct {
	Name   string   `json:"name"`   // the file as it is called in the set's folder, or the archive
	URLs   []string `json:"urls"`   // the official address, then others that serve the same file
	Size   int64    `json:"size"`   // bytes
	SHA256 string   `json:"sha256"` // in hex
	Source string   `json:"source"` // where size and checksum are published
	// Verified says that a download by this program has matched the checksum. None has yet: the program was written on a machine
	// without network access.
	Verified bool `json:"verified"`

	members []member // of a tar.gz archive: the files wanted
}

// member is a file in an archive.
type member struct {
	name string
	size int64
}

// checksums is the list that size and SHA-256 of every file were taken from.
const checksums = "github.com/tensorflow/datasets, tensorflow_datasets/url_checksums/"

const (
	mnistHome    = "http://yann.lecun.com/exdb/mnist/"
	mnistMirror  = "https://ossci-datasets.s3.amazonaws.com/mnist/"      // PyTorch's
	mnistMirror2 = "https://storage.googleapis.com/cvdf-datasets/mnist/" // TensorFlow's, of which the checksums were taken
	fashionHome  = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
	cifarHome    = "https://www.cs.toronto.edu/~kriz/"
	svhnHome     = "http://ufldl.stanford.edu/housenumbers/"
)

func mnistFile(name string, size int64, sum string) RemoteFile {
	return RemoteFile{Name: name, URLs: []string{mnistHome + name, mnistMirror + name, mnistMirror2 + name}, Size: size, SHA256: sum, Source: checksums + "mnist.txt"}
}

func fashionFile(name string, size int64, sum string) RemoteFile {
	return RemoteFile{Name: name, URLs: []string{fashionHome + name}, Size: size, SHA256: sum, Source: checksums + "fashion_mnist.txt"}
}

var (
	mnistFiles = []RemoteFile{
		mnistFile("train-images-idx3-ubyte.gz", 9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
		mnistFile("train-labels-idx1-ubyte.gz", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
		mnistFile("t10k-images-idx3-ubyte.gz", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
		mnistFile("t10k-labels-idx1-ubyte.gz", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
	}
	fashionFiles = []RemoteFile{
		fashionFile("train-images-idx3-ubyte.gz", 26421880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
		fashionFile("train-labels-idx1-ubyte.gz", 29515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
		fashionFile("t10k-images-idx3-ubyte.gz", 4422102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
		fashionFile("t10k-labels-idx1-ubyte.gz", 5148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
	}
	cifar10Files = []RemoteFile{{Name: "cifar-10-binary.tar.gz", URLs: []string{cifarHome + "cifar-10-binary.tar.gz"}, Size: 170052171,
		SHA256: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd", Source: checksums + "cifar10.txt",
		members: []member{{"data_batch_1.bin", 30730000}, {"data_batch_2.bin", 30730000}, {"data_batch_3.bin", 30730000}, {"data_batch_4.bin", 30730000},
			{"data_batch_5.bin", 30730000}, {"test_batch.bin", 30730000}}}}
	cifar100Files = []RemoteFile{{Name: "cifar-100-binary.tar.gz", URLs: []string{cifarHome + "cifar-100-binary.tar.gz"}, Size: 168513733,
		SHA256: "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec", Source: checksums + "cifar100.txt",
		members: []member{{"train.bin", 153700000}, {"test.bin", 30740000}}}}
	svhnFiles = []RemoteFile{
		{Name: "train_32x32.mat", URLs: []string{svhnHome + "train_32x32.mat"}, Size: 182040794,
			SHA256: "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8", Source: checksums + "svhn_cropped.txt"},
		{Name: "test_32x32.mat", URLs: []string{svhnHome + "test_32x32.mat"}, Size: 64275384,
			SHA256: "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b", Source: checksums + "svhn_cropped.txt"},
	}
)
