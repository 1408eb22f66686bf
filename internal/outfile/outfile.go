// Package outfile writes the files that a user names, the way cp would, and folders of them.
//
//   - "-" is standard output, and so is every other name of it (/dev/stdout, the file it is redirected to).
//   - Devices, pipes and open descriptors (/dev/fd/3) are written through.
//   - Symbolic links are followed: what they point to changes, the link stays; one that points to nothing creates it.
//   - A regular file is replaced at once when the new content is whole, and keeps its mode and owner. It is written in
//     place where replacing it would lose something: other hard links, an access control list, an owner that cannot be
//     given, or a folder that takes no new file. Its old content stays if the disk is full, either way.
//   - A new file has the mode that the umask leaves.
//   - A file that the same command reads, or writes under another flag, is refused.
//
// A folder is written as a whole, and holds what the user put there, too: see Folder.
//
// A command names its inputs and outputs before it works, so that what cannot be written is said at once. Errors name
// the file that was asked for.
package outfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Outputs are what one command reads and writes.
type Outputs struct {
	ctx    context.Context
	stdout io.Writer
	reads  []input
	below  []string // folders that hold inputs, without links
	files  []*File

	folders []*Folder
}

type input struct {
	path string
	info os.FileInfo
}

// MisuseError says that a name cannot be meant: the file is an input too, or another output, or a folder.
type MisuseError struct{ Words string }

func (e *MisuseError) Error() string { return e.Words }

// New returns the outputs of a command whose standard output is stdout. Writing stops when ctx ends.
func New(ctx context.Context, stdout io.Writer) *Outputs {
	return &Outputs{ctx: ctx, stdout: stdout}
}

// Reads names files that the command reads; those that are not there are passed over. It must be called before File.
func (o *Outputs) Reads(paths ...string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			o.reads = append(o.reads, input{path, info})
		}
	}
}

// ReadsBelow names a folder that holds nothing but inputs, such as a lab's runs.
func (o *Outputs) ReadsBelow(dir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		if real, err = filepath.Abs(real); err == nil {
			o.below = append(o.below, real)
		}
	}
}

// ReadsOpen names an open file that the command reads, such as standard input.
func (o *Outputs) ReadsOpen(name string, f *os.File) {
	if info, err := f.Stat(); err == nil {
		o.reads = append(o.reads, input{name, info})
	}
}

// File is one output. A nil File is one that was not asked for: nothing is written to it.
type File struct {
	of     *Outputs
	flag   string
	target target
	stdout bool
}

// File checks that path, the value of a flag, can be written, and returns it; nil for "". Nothing that is there is
// changed. flag is for error messages.
func (o *Outputs) File(flag, path string) (*File, error) {
	if path == "" {
		return nil, nil
	}
	f := &File{of: o, flag: flag}
	if err := f.check(path); err != nil {
		return nil, f.named(path, err)
	}
	o.files = append(o.files, f)
	return f, nil
}

// check finds out what a name stands for and whether it can be written.
func (f *File) check(path string) error {
	if err := f.find(path); err != nil {
		return err
	}
	err := f.conflict()
	if err == nil && !f.stdout {
		if err = inLab(f.target.path); err == nil {
			err = f.target.writable()
		}
	}
	if err != nil {
		f.target.release()
	}
	return err
}

// find resolves the name and sees whether it is standard output.
func (f *File) find(path string) (err error) {
	if path == "-" {
		f.stdout, f.target.asked = true, path
		f.target.info = openInfo(f.of.stdout)
		return nil
	}
	if f.target, err = resolve(path); err != nil || f.target.info == nil {
		return err
	}
	if out := openInfo(f.of.stdout); out != nil && os.SameFile(out, f.target.info) && !isNull(out) {
		f.target.release()
		f.stdout = true
	}
	return nil
}

// openInfo describes a writer that is an open file; nil for others.
func openInfo(w io.Writer) os.FileInfo {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, _ := file.Stat()
	return info
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// conflict finds another use of the same file by the same command.
func (f *File) conflict() error {
	for _, other := range f.of.files {
		if f.stdout && other.stdout || f.target.same(&other.target) {
			return &MisuseError{fmt.Sprintf("%s is the same file: give each output its own", other.shown())}
		}
	}
	return f.input()
}

// input reports that the file is one that the command reads.
func (f *File) input() error {
	info := f.target.info
	if info == nil || info.Mode()&fs.ModeCharDevice != 0 {
		return nil
	}
	for _, in := range f.of.reads {
		if os.SameFile(info, in.info) {
			return &MisuseError{fmt.Sprintf("this command reads that file (%s) and would overwrite it: choose another name", in.path)}
		}
	}
	return f.target.outside(f.of.below)
}

// Stdout reports whether the output goes to standard output, which must then hold nothing else.
func (f *File) Stdout() bool { return f != nil && f.stdout }

// Write makes the file hold what write writes. If write fails, a regular file keeps what it held.
func (f *File) Write(write func(io.Writer) error) error {
	if f == nil {
		return nil
	}
	ctx := f.of.ctx
	if f.stdout {
		return f.named(f.target.asked, buffered(ctx, f.of.stdout, write))
	}
	if f.target.open == nil { // the work has taken its time: what the name stands for may have changed
		var err error
		if f.target, err = resolve(f.target.asked); err == nil {
			err = f.input()
		}
		if err != nil {
			return f.named(f.target.asked, err)
		}
	}
	return f.named(f.target.asked, f.target.write(ctx, write))
}

func (f *File) shown() string { return joined(f.flag, f.target.asked) }

// named prefixes an error with what was asked for.
func (f *File) named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", joined(f.flag, path), cause(err))
}

func joined(flag, path string) string {
	if flag == "" {
		return path
	}
	return flag + " " + path
}

// Write makes the file at path hold data, by the same rules.
func Write(path string, data []byte) error {
	t, err := resolve(path)
	if err == nil {
		err = t.write(context.Background(), content(data))
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, cause(err))
	}
	return nil
}

// content writes what is whole in memory.
func content(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// buffered lets fill write to w in large pieces.
func buffered(ctx context.Context, w io.Writer, fill func(io.Writer) error) error {
	b := bufio.NewWriterSize(guarded{ctx, w}, 1<<16)
	if err := fill(b); err != nil {
		return err
	}
	return b.Flush()
}

// guarded is a writer whose errors do not name a temporary file, and which fails once its context has ended.
type guarded struct {
	ctx context.Context
	w   io.Writer
}

func (g guarded) Write(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := g.w.Write(p)
	if err != nil && g.ctx.Err() != nil {
		err = g.ctx.Err()
	}
	return n, cause(err)
}

// cause takes the file names of the operating system's errors away: they are often temporary ones.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path) && err == error(path):
		return cause(path.Err)
	case errors.As(err, &link) && err == error(link):
		return cause(link.Err)
	}
	return err
}
