package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/results"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// emit prints v as the command's one JSON document if --json was given, else the text that
// human writes.
func (a *app) emit(v any, human func()) error {
	if !a.flags.JSON {
		human()
		return nil
	}
	return encodeJSON(a.stdout, v)
}

func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON to standard output: %w", err)
	}
	return nil
}

// checkedOutput is standard output. It remembers the first error: results lost on a full disk are a failure.
type checkedOutput struct {
	w   io.Writer
	err error
}

func (r *checkedOutput) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// printf prints results for people, numbers in the one form of package format. Its arguments are made safe for a terminal, whatever
// names they hold.
func (a *app) printf(layout string, args ...any) {
	if false {
		_ = fmt.Sprintf(layout, args...) // lets vet check the calls
	}
	fmt.Fprint(a.stdout, a.screen.Fold(format.Related(safetext.Sprintf(layout, format.Numbers(args)...))))
}

// verdictMark is the mark before a verdict: ✓ or ✗ on a terminal, room for one where it is open, nothing elsewhere.
func (a *app) verdictMark(v judge.Verdict) string {
	switch {
	case !a.screen.Marks:
		return ""
	case v == judge.Holds || v == judge.Fails:
		return a.screen.Mark(v == judge.Holds) + " "
	}
	return "  "
}

// detailf prints what only --verbose asks for.
func (a *app) detailf(layout string, args ...any) {
	if a.flags.Verbose {
		a.printf(layout, args...)
	}
}

// notef prints a message that is not a result, made safe in the same way.
func (a *app) notef(format string, args ...any) { say(a.stderr, format, args...) }

// say writes a message, safe for a terminal and folded to its width.
func say(w io.Writer, format string, args ...any) {
	fmt.Fprint(w, screen.Of(w).Fold(safetext.Sprintf(format, args...)))
}

// print prints, unchanged, a text of the program's own or one to be saved.
func (a *app) print(text string) { fmt.Fprint(a.stdout, text) }

// outputs collects what a command reads and writes.
func (a *app) outputs() *outfile.Outputs { return outfile.New(a.ctx, a.file1) }

// labOutputs are the outputs of a command that reads the lab.
func (a *app) labOutputs() *outfile.Outputs {
	o := a.outputs()
	for _, name := range []string{"lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm", "queue.token", "queue.lock", "queue.blobs"} {
		o.Reads(filepath.Join(a.flags.Lab, name))
	}
	o.ReadsBelow(filepath.Join(a.flags.Lab, "runs"))
	return o
}

// file checks an output that a flag names, before the work. If it is standard output, nothing else goes there: the
// readable text goes to standard error.
func (a *app) file(o *outfile.Outputs, flag, path string) (*outfile.File, error) {
	f, err := o.File(flag, path)
	if err != nil {
		return nil, misuse(err)
	}
	if f.Stdout() {
		if a.flags.JSON {
			return nil, usagef("%s %s and --json both want standard output: leave one out, or name a file", flag, path)
		}
		a.stdout, a.screen = a.stderr, screen.Of(a.stderr)
	}
	return f, nil
}

// writesFolder adds to a command's help which files of a folder it may change.
type writesFolder struct{}

func (writesFolder) Help() string {
	return `A folder that collapse writes holds a list of the files it wrote there, with their digests (` + outfile.ListName + `). It replaces and removes only files that are in this list and unchanged since; what is not made any more goes, everything else stays. If any other file is where one would be written, it is named, nothing is written there, and the exit code is 1.`
}

// pageFolder checks that a page can be written to a folder, before the work. It is nil for "".
func pageFolder(o *outfile.Outputs, dir string) (*outfile.Folder, error) {
	to, err := o.Folder("--out", dir, page.Kind, "index.html", "figures/x.svg")
	return to, misuse(err)
}

// resultsFolder checks that results of recipes can be written to a folder, before the work. It is nil for "".
func resultsFolder(o *outfile.Outputs, dir string, recipes ...string) (*outfile.Folder, error) {
	var names []string
	for _, id := range recipes {
		names = append(names, results.FilesOf(id)...)
	}
	to, err := o.Folder("--results", dir, results.Kind, names...)
	var foreign *outfile.ForeignError
	if errors.As(err, &foreign) && foreign.Unlisted {
		err = fmt.Errorf("%w. If an older version of this program wrote it, make the folder known first: collapse results %s", err, format.ShellWord(dir))
	}
	return to, misuse(err)
}

// writePage writes a page of the theory, and refuses to overwrite a file that the command reads.
func writePage(p findings.Theory, to *outfile.Folder) (index string, err error) {
	made, err := page.WriteRecipe(to, p.Findings())
	return made.Index, misuse(err)
}

// outputName reads the name of a file to write. Only ~ is expanded: a slash at the end, and ".." after a link, mean something to
// package outfile that cleaning the name would lose.
func outputName(ctx *kong.DecodeContext, target reflect.Value) error {
	var name string
	if err := ctx.Scan.PopValueInto("file", &name); err != nil {
		return err
	}
	if name == "" {
		return errors.New("is empty; wanted the name of a file")
	}
	if strings.HasPrefix(name, "~/") {
		name = kong.ExpandPath(name)
	}
	target.SetString(name)
	return nil
}

// unnamed marks errors about names that do not exist (a file, an array in it, a measure) and about impossible settings as wrong calls.
func unnamed(err error) error {
	var array *featurefiles.NameError
	var key *measure.UnknownMeasureError
	var file *study.FileError
	var config *train.ConfigError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &array) || errors.As(err, &key) || errors.As(err, &file) || errors.As(err, &config) {
		return usageError{err}
	}
	return err
}

// misuse marks an error about an impossible name as a wrong call.
func misuse(err error) error {
	var wrong *outfile.MisuseError
	if errors.As(err, &wrong) {
		return usageError{err}
	}
	return err
}
