package arrayfile

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"collapse.example/collapse/internal/inputfile"
)

// mapping is a file mapped into memory. Its descriptor stays open, so that one can check whether the file is still what was mapped,
// even if its name now belongs to another file.
type mapping struct {
	path     string
	file     *os.File
	memory   mmap.MMap
	info     os.FileInfo // when it was mapped
	size     int64
	modified time.Time
}

// mappings are the live mappings, needed to find out which file a fault is in.
var mappings struct {
	sync.Mutex
	live map[*mapping]struct{}
}

// mapped maps a file into memory; want names what it should be.
func mapped(path, want string) (*mapping, error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("arrayfile: %w", err)
	}
	m, err := mapFile(f, path, want)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	mappings.Lock()
	defer mappings.Unlock()
	if mappings.live == nil {
		mappings.live = map[*mapping]struct{}{}
	}
	mappings.live[m] = struct{}{}
	return m, nil
}

func mapFile(f *os.File, path, want string) (*mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("arrayfile: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, fmt.Errorf("arrayfile: %s is empty or not a regular file; want %s", path, want)
	}
	memory := keptOf(info)
	if memory == nil {
		if memory, err = mmap.Map(f, mmap.RDONLY, 0); err != nil {
			return nil, fmt.Errorf("arrayfile: mapping %s into memory: %w", path, err)
		}
	}
	return &mapping{path, f, memory, info, info.Size(), info.ModTime()}, nil
}

// parse calls parse within Guard. After an error, which is *ChangedError if the file has changed meanwhile, it closes the mapping.
func (m *mapping) parse(parse func() error) error {
	err := Guard(parse)
	if err == nil {
		return nil
	}
	var fault *ChangedError
	if changed := m.changed(); changed != nil {
		err = changed
	} else if !errors.As(err, &fault) {
		err = fmt.Errorf("%w (in %s)", err, m.path)
	}
	return errors.Join(err, m.close())
}

// close releases the memory and the descriptor.
func (m *mapping) close() error {
	mappings.Lock()
	delete(mappings.live, m)
	mappings.Unlock()
	stays, err := keep(m.memory, m.info)
	if !stays {
		err = m.memory.Unmap()
	}
	return errors.Join(err, m.file.Close())
}

// changed returns *ChangedError if the file is no longer what was mapped.
func (m *mapping) changed() error {
	info, err := m.file.Stat()
	if err != nil {
		return fmt.Errorf("arrayfile: %w", err)
	}
	if info.Size() == m.size && info.ModTime().Equal(m.modified) {
		return nil
	}
	return &ChangedError{Path: m.path, Was: m.size, Is: info.Size(), WasModified: m.modified, Modified: info.ModTime()}
}

// fault returns the error for a page that could not be read.
func (m *mapping) fault() error {
	if err := m.changed(); err != nil {
		return err
	}
	return &ChangedError{Path: m.path, Was: m.size, Is: m.size, WasModified: m.modified, Modified: m.modified}
}

// mappingAt returns the live mapping that contains an address, nil if there is none.
func mappingAt(addr uintptr) *mapping {
	mappings.Lock()
	defer mappings.Unlock()
	for m := range mappings.live {
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(m.memory))); addr >= at && addr-at < pages(len(m.memory)) {
			return m
		}
	}
	return nil
}

// pages rounds a length up to whole pages: the bytes after the end of a file in its last page are mapped, too.
func pages(n int) uintptr {
	size := uintptr(os.Getpagesize())
	return (uintptr(n) + size - 1) / size * size
}
