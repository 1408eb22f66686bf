package arrayfile

import (
	"fmt"

	"github.com/edsrzf/mmap-go"

	"collapse/internal/inputfile"
)

// mapped maps a file into memory; want names what it should be.
func mapped(path, want string) (mmap.MMap, error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("arrayfile: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("arrayfile: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, fmt.Errorf("arrayfile: %s is empty or not a regular file; want %s", path, want)
	}
	memory, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("arrayfile: mapping %s into memory: %w", path, err)
	}
	return memory, nil
}
