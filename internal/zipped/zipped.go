// Package zipped packs what is compiled into the program: single files with brotli, or with gzip where browsers get them as they are; folders as zip
// below brotli.
package zipped

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"

	"github.com/andybalholm/brotli"
)

// Files returns the files of an embedded folder, which gen packs. It panics where that is damaged.
func Files(packed []byte) fs.FS {
	whole := FromBrotli(packed)
	files, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		panic("zipped: embedded files are damaged: " + err.Error())
	}
	return files
}

// Brotli compresses a file as far as brotli does, a fifth further than gzip.
func Brotli(file []byte) []byte {
	var packed bytes.Buffer
	w := brotli.NewWriterOptions(&packed, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
	w.Write(file) // into memory
	w.Close()
	return packed.Bytes()
}

// FromBrotli returns the file. It is for embedded files, so it panics where one is damaged.
func FromBrotli(packed []byte) []byte {
	file, err := io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic("zipped: an embedded file is damaged: " + err.Error())
	}
	return file
}

// Pack compresses a text as far as gzip does.
func Pack(text []byte) []byte {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		panic("zipped: unknown compression")
	}
	w.Write(text) // into memory
	w.Close()
	return packed.Bytes()
}

// Unpack returns the text. It is for embedded files, so it panics where one is damaged.
func Unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("zipped: an embedded file is damaged: " + err.Error())
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic("zipped: an embedded file is damaged: " + err.Error())
	}
	return text
}
