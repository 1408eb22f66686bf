// Gen packs files into one that a package embeds, a zip without compression below brotli: texts take a sixth of their size in the program.
//
// A file that ends in .gz is unpacked first: brotli compresses it further.
//
// usage: go run collapse.example/collapse/internal/zipped/gen FILE.zip.br PATTERN…
package main

import (
	"archive/zip"
	"bytes"
	"log"
	"os"
	"path/filepath"
	"strings"

	"collapse.example/collapse/internal/zipped"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: gen FILE.zip.br PATTERN…")
	}
	if err := pack(os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

// pack writes the files, in the order of patterns and names, and without times: the same files give the same bytes.
func pack(name string, patterns []string) error {
	var whole bytes.Buffer
	to := zip.NewWriter(&whole)
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
	return os.WriteFile(name, zipped.Brotli(whole.Bytes()), 0o666)
}

func add(to *zip.Writer, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if plain, packed := strings.CutSuffix(name, ".gz"); packed {
		name, text = plain, zipped.Unpack(text)
	}
	w, err := to.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(name), Method: zip.Store})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
