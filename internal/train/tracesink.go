package train

import (
	"archive/tar"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/rundir"
)

// traceSink receives the files of a trace, complete and one after the other.
type traceSink interface {
	put(name string, write func(io.Writer) error) error
	end() error
}

// openTrace creates the folder path, or opens the named pipe of that name. Waiting for the pipe's reader ends with ctx.
func openTrace(ctx context.Context, fs rundir.FS, path string) (traceSink, error) {
	if fs == nil {
		fs = rundir.System{} // the folder is where the user wants it, not in the lab
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		pipe, err := outfile.Pipe(ctx, path)
		if err != nil {
			return nil, err
		}
		return &tracePipe{pipe: pipe, tar: tar.NewWriter(pipe)}, nil
	}
	return traceFolder{fs, path}, fs.MkdirAll(path)
}

// traceFolder keeps the files.
type traceFolder struct {
	fs  rundir.FS
	dir string
}

func (f traceFolder) put(name string, write func(io.Writer) error) error {
	return rundir.ReplaceFile(f.fs, filepath.Join(f.dir, name), write)
}

func (traceFolder) end() error { return nil }

// tracePipe sends the files as a tar stream to a reader.
type tracePipe struct {
	pipe io.WriteCloser
	tar  *tar.Writer
}

// put writes twice: tar needs to know the size first.
func (p *tracePipe) put(name string, write func(io.Writer) error) error {
	size, err := rundir.Size(write)
	if err == nil {
		err = p.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o666, Size: size})
	}
	if err == nil {
		err = write(p.tar)
	}
	if err != nil {
		return fmt.Errorf("%s through the pipe: %w", name, err)
	}
	return nil
}

func (p *tracePipe) end() error {
	err := p.tar.Close()
	return cmp.Or(err, p.pipe.Close())
}
