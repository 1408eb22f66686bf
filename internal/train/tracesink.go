package train

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"collapse/internal/outfile"
	"collapse/internal/rundir"
)

// traceSink takes the files of a trace, whole, one after the other.
type traceSink interface {
	put(name string, write func(io.Writer) error) error
	end() error
}

// openTrace returns the folder path, which it makes, or the named pipe that is there. Waiting for the pipe's reader ends with ctx.
func openTrace(ctx context.Context, fs rundir.FS, path string) (traceSink, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		pipe, err := outfile.Pipe(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("train: trace: %w", err)
		}
		return &tracePipe{pipe: pipe, tar: tar.NewWriter(pipe)}, nil
	}
	if err := fs.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("train: trace: %w", err)
	}
	return traceFolder{fs, path}, nil
}

// traceFolder keeps the files.
type traceFolder struct {
	fs  rundir.FS
	dir string
}

func (f traceFolder) put(name string, write func(io.Writer) error) error {
	if err := rundir.ReplaceFile(f.fs, filepath.Join(f.dir, name), write); err != nil {
		return fmt.Errorf("train: trace: %w", err)
	}
	return nil
}

func (traceFolder) end() error { return nil }

// tracePipe sends the files as a tar stream to whoever reads along.
type tracePipe struct {
	pipe io.WriteCloser
	tar  *tar.Writer
}

// put writes twice: tar wants to know the size first.
func (p *tracePipe) put(name string, write func(io.Writer) error) error {
	size, err := rundir.Size(write)
	if err == nil {
		err = p.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o666, Size: size})
	}
	if err == nil {
		err = write(p.tar)
	}
	if err != nil {
		return fmt.Errorf("train: trace: %s through the pipe: %w", name, err)
	}
	return nil
}

func (p *tracePipe) end() error {
	err := p.tar.Close()
	if closed := p.pipe.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("train: trace: %w", err)
	}
	return nil
}
