package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"collapse/internal/outfile"
	"collapse/internal/safetext"
	"collapse/internal/theory"
)

// emit prints v as the command's one JSON document if --json was given, else the text that
// human writes.
func (a *app) emit(v any, human func()) error {
	if !a.flags.JSON {
		human()
		return nil
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON to standard output: %w", err)
	}
	return nil
}

// results is standard output. It remembers the first error: results that were lost on a full disk are no success.
type results struct {
	w   io.Writer
	err error
}

func (r *results) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// printf prints results for people. Its arguments only show themselves, whatever names they hold.
func (a *app) printf(format string, args ...any) { safetext.Fprintf(a.stdout, format, args...) }

// notef prints a message that is not a result, in the same way.
func (a *app) notef(format string, args ...any) { safetext.Fprintf(a.stderr, format, args...) }

// print prints a text of the program's own, or one that is to be saved, as it is.
func (a *app) print(text string) { fmt.Fprint(a.stdout, text) }

// outputs collects what a command reads and writes.
func (a *app) outputs() *outfile.Outputs { return outfile.New(a.ctx, a.file1) }

// labOutputs are the outputs of a command that reads the lab.
func (a *app) labOutputs() *outfile.Outputs {
	o := a.outputs()
	for _, name := range []string{"lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm", "queue.token", "queue.lock"} {
		o.Reads(filepath.Join(a.flags.Lab, name))
	}
	o.ReadsBelow(filepath.Join(a.flags.Lab, "runs"))
	return o
}

// file checks an output that a flag names, before the work. If it is standard output, then nothing else goes there: what
// people read goes to standard error.
func (a *app) file(o *outfile.Outputs, flag, path string) (*outfile.File, error) {
	f, err := o.File(flag, path)
	if err != nil {
		return nil, misuse(err)
	}
	if f.Stdout() {
		if a.flags.JSON {
			return nil, usagef("%s %s and --json both want standard output: leave one out, or name a file", flag, path)
		}
		a.stdout = a.stderr
	}
	return f, nil
}

// pageFolder checks that a page can be written to a folder, before the work.
func (a *app) pageFolder(o *outfile.Outputs, dir string) error {
	return misuse(o.Folder("--out", dir, "index.html", "figures/x.svg"))
}

// writePage writes a page of the theory, over none of the files that the command reads.
func writePage(o *outfile.Outputs, page *theory.Page, dir string) (index string, err error) {
	if err := o.Folder("--out", dir, page.Files()...); err != nil {
		return "", misuse(err)
	}
	return page.Write(dir)
}

// misuse marks names that cannot be meant as a wrong call.
func misuse(err error) error {
	var wrong *outfile.MisuseError
	if errors.As(err, &wrong) {
		return usageError{err}
	}
	return err
}
