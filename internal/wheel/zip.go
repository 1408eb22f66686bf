package wheel

import (
	"archive/zip"
	"fmt"
	"io"
	"time"
)

// File is a file of an archive.
type File struct {
	Name       string // with slashes
	Data       []byte
	Executable bool
}

// Mode is what Unix makes of the file.
func (f File) Mode() int64 {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// Time is when every file of an archive was changed, so that two builds are the same: the first that a zip archive can say.
var Time = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteZip writes a zip archive of the files, in their order.
func WriteZip(w io.Writer, files []File) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: Time}
		header.ExternalAttrs = uint32(f.Mode()|0o100000) << 16 // a regular file, as Unix writes it
		entry, err := z.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(f.Data)
		}
		if err != nil {
			return fmt.Errorf("zip archive: %s: %w", f.Name, err)
		}
	}
	return z.Close()
}
