package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/internal/wheel"
)

// archive makes collapse-VERSION-OS-ARCH.tar.gz, for Windows .zip: a folder of that name with the program and what to read.
func (r *release) archive(p platform, program []byte) error {
	folder := "collapse-" + version.Version + "-" + p.os + "-" + p.arch
	files := []wheel.File{{Name: folder + "/" + p.program(), Data: program, Executable: true}}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		files = append(files, wheel.File{Name: folder + "/" + name, Data: text})
	}
	var b bytes.Buffer
	if p.os == "windows" {
		if err := wheel.WriteZip(&b, files); err != nil {
			return err
		}
		return r.write(folder+".zip", b.Bytes())
	}
	z := gzip.NewWriter(&b) // without a name and a time
	if err := writeTar(z, files); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return r.write(folder+".tar.gz", b.Bytes())
}

func writeTar(w io.Writer, files []wheel.File) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		header := &tar.Header{Name: f.Name, Mode: f.Mode(), Size: int64(len(f.Data)), ModTime: wheel.Time, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(f.Data); err != nil {
			return err
		}
	}
	return t.Close()
}
