// Gen packs the recipe files into recipes.zip, which the program holds: the texts would take four times as much.
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
	if err := pack("recipes.zip"); err != nil {
		log.Fatal(err)
	}
}

// pack writes the files of this folder, in the order of their names and without times: the same recipes give the same bytes.
func pack(name string) error {
	names, err := filepath.Glob("*.toml")
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	to := zip.NewWriter(f)
	to.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		w, err := to.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if err := to.Close(); err != nil {
		return err
	}
	return f.Close()
}
