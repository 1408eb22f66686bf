// Package zipped packs texts that are compiled into the program, with gzip.
package zipped

import (
	"bytes"
	"compress/gzip"
	"io"
)

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
