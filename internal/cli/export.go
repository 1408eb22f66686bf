package cli

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/study/export"
)

type exportCmd struct {
	Names []string `arg:"" optional:"" name:"study-or-run" complete:"runs,studies" help:"Studies by name, runs by hash or the start of it; none: every run of the lab, with the newest study that has it."`
	exportTo
}

func (c *exportCmd) Run(a *app) error {
	a.onlyComputes()
	return c.export(a, c.Names)
}

type studyExportCmd struct {
	Name string `arg:"" name:"study" complete:"studies" help:"Name of the study."`
	exportTo
}

func (c *studyExportCmd) Run(a *app) error {
	a.onlyComputes()
	if _, err := c.format(a); err != nil {
		return err
	}
	lab, err := a.reader()
	if err != nil {
		return err
	}
	if _, err = lab.Study(c.Name); err != nil {
		return err
	}
	return c.export(a, []string{c.Name})
}

// exportTo is the format and place of exported results.
type exportTo struct {
	writesFolder

	CSV         bool   `name:"csv" help:"Comma-separated text (the default)." xor:"format"`
	Parquet     bool   `help:"A Parquet file; needs --out (- for standard output)." xor:"format"`
	Tensorboard string `help:"Event files of TensorBoard, a folder of DIR for each run, and no other runs: tensorboard --logdir DIR." type:"path" placeholder:"DIR" xor:"format,out"`
	Out         string `help:"Where to write: a file; default: - for standard output." type:"output" placeholder:"FILE" xor:"out"`
}

// format is the format of the table. --json, which every command has, prints the table as JSON here.
func (c *exportTo) format(a *app) (string, error) {
	switch {
	case c.Tensorboard != "": // --json reports what was written
		return "tensorboard", nil
	case a.flags.JSON && (c.CSV || c.Parquet):
		return "", usagef("--json, --csv and --parquet are three formats: choose one")
	case a.flags.JSON:
		return "json", nil
	case slices.Contains([]string{".xlsx", ".xls", ".ods"}, strings.ToLower(filepath.Ext(c.Out))):
		return "", usagef("--out %s: a spreadsheet is not written; name a file .csv or .parquet, which spreadsheets read", c.Out)
	case c.Parquet && c.Out == "":
		return "", usagef("a Parquet file is not text: name a file with --out FILE.parquet")
	case c.Parquet:
		return "parquet", nil
	}
	return "csv", nil
}

// exportedEvents is the JSON of an export for TensorBoard.
type exportedEvents struct {
	Dir     string `json:"dir"`
	Runs    int    `json:"runs"`
	Values  int    `json:"values"`
	Missing int    `json:"missing"` // in the lab, and left out
}

func (c *exportTo) export(a *app, names []string) error {
	format, err := c.format(a)
	if err != nil {
		return err
	}
	out, to, err := c.check(a, format)
	if err != nil {
		return err
	}
	lab, err := a.reader()
	if err != nil {
		return err
	}
	runs, err := export.Select(lab, names)
	if err != nil {
		return err
	}
	if format == "tensorboard" {
		done := exportedEvents{Dir: c.Tensorboard}
		n, err := export.TensorBoard(lab, runs, to)
		if err != nil {
			return err
		}
		done.Runs, done.Values, done.Missing = n.Runs, n.Values, n.Missing
		return a.emit(done, func() {
			without := ""
			if n.Missing > 0 {
				without = fmt.Sprintf(", without %d that are missing", n.Missing)
			}
			a.printf("%d values of %d runs%s; see them with\ntensorboard --logdir %s\n", done.Values, done.Runs, without, done.Dir)
		})
	}
	lines := 0
	err = out.Write(func(w io.Writer) error {
		lines, err = export.Table(lab, runs, format, w)
		return err
	})
	if err == nil && !out.Stdout() {
		a.notef("%d rows in %s\n", lines, c.Out)
	}
	return err
}

// check returns the file to write, or a folder for event files, before the lab is read.
func (c *exportTo) check(a *app, format string) (out *outfile.File, to *outfile.Folder, err error) {
	o := a.labOutputs()
	if format == "tensorboard" {
		to, err = o.Folder("--tensorboard", c.Tensorboard, export.EventsKind)
	} else {
		out, err = o.File("--out", cmp.Or(c.Out, "-"))
	}
	return out, to, misuse(err)
}
