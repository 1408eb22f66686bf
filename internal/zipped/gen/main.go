// Gen packs files into a zip that a package embeds: texts take a quarter of their size in the program.
//
// usage: go run collapse.example/collapse/internal/zipped/gen FILE.zip PATTERN…
package main

import (
	"archive/zip"
	"compress/flate"
	"io"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: gen FILE.zip PATTERN…")
	}
	if err := pack(os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

// pack writes the files, in the order of patterns and names, and without times: the same files give the same bytes.
func pack(name string, patterns []string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	to := zip.NewWriter(f)
	to.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := add(to, name); err != nil {
				return err
			}
		}
	}
	if err := to.Close(); err != nil {
		return err
	}
	return f.Close()
}

func add(to *zip.Writer, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	w, err := to.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(name), Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
