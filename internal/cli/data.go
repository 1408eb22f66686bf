package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/safetext"
)

type dataCmd struct {
	List  dataListCmd  `cmd:"" help:"Every data set the program knows, and its source."`
	Get   dataGetCmd   `cmd:"" help:"Download a data set from its official address, check it and store it where train finds it."`
	Check dataCheckCmd `cmd:"" help:"Read every data set completely and report which are present, missing or broken."`
}

type dataListCmd struct{}

func (dataListCmd) Run(a *app) error {
	type row struct {
		Name    string            `json:"name"`
		Title   string            `json:"title"`
		Origin  string            `json:"origin"` // "" for a built-in set
		Classes int               `json:"classes"`
		Files   []data.RemoteFile `json:"files,omitempty"` // what `data get` downloads
	}
	var rows []row
	for _, info := range data.List() {
		rows = append(rows, row{info.Name, info.Title, info.Origin, info.Classes, info.Remote})
	}
	return a.emit(rows, func() {
		for _, r := range rows {
			a.printf("%-14s %s; up to %d classes; %s\n", r.Name, r.Title, r.Classes, cmp.Or(r.Origin, "built in"))
			for _, f := range r.Files {
				a.printf("%-14s   %s, %s, sha256 %.12s…%s\n", "", f.Name, megabytes(f.Size), f.SHA256, unverified(f))
			}
		}
	})
}

// unverified says that a checksum has not been confirmed by a download.
func unverified(f data.RemoteFile) string {
	if f.Verified {
		return ""
	}
	return " (unverified here: from " + f.Source + ")"
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

type dataGetCmd struct {
	Name    string `arg:"" complete:"sets" help:"Which set: see 'collapse data list'."`
	DataDir string `help:"Folder that holds the data sets; default: $COLLAPSE_DATA." placeholder:"DIR"`
	Mirror  string `help:"Address that serves the files under their own names; tried before the official ones." placeholder:"URL"`
}

func (c dataGetCmd) Run(a *app) error {
	draw := &downloads{a: a}
	got, err := data.Get(a.ctx, c.Name, data.GetOptions{Root: c.DataDir, Mirror: c.Mirror, Progress: draw.show})
	draw.close()
	var unknown *data.UnknownError
	if errors.As(err, &unknown) || errors.Is(err, data.ErrNoRoot) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	return a.emit(got, func() {
		for _, g := range got {
			what := fmt.Sprintf("fetched from %s, checksum right", g.URL)
			if g.State == data.Already {
				what = "already there"
			}
			if len(g.Members) > 0 {
				what += "; holds " + strings.Join(g.Members, ", ")
			}
			a.printf("%s in %s: %s\n", g.File, g.Folder, what)
		}
		a.printf("'collapse data check' reads the whole set.\n")
	})
}

// downloads draws a bar for each file on a terminal; elsewhere it prints a line when a file begins and when it is
// complete.
type downloads struct {
	a    *app
	file string
	bar  *bar
}

func (d *downloads) show(f data.Transfer) {
	if f.File != d.file {
		d.close()
		d.file = f.File
		if onTerminal(d.a.stderr) {
			d.bar = newBar(d.a.stderr, f.Total, f.File)
		} else {
			d.a.notef("%s: fetching %s\n", f.File, megabytes(f.Total))
		}
	}
	switch {
	case d.bar != nil:
		d.bar.set(f.Done, "%s of %s", megabytes(f.Done), megabytes(f.Total))
	case f.Done == f.Total:
		d.a.notef("%s: complete\n", f.File)
	}
}

func (d *downloads) close() {
	d.bar.close()
	d.bar = nil
}

type dataCheckCmd struct {
	DataDir string `help:"Folder that holds the data sets; default: $COLLAPSE_DATA." placeholder:"DIR"`
}

func (c dataCheckCmd) Run(a *app) error {
	a.onlyComputes()
	findings := data.Check(c.DataDir)
	if err := a.emit(findings, func() { printFindings(a, findings) }); err != nil {
		return err
	}
	for _, f := range findings {
		if f.State == data.Broken {
			return fmt.Errorf("%s (%s) is broken: %s", f.Name, f.Split, f.Problem)
		}
	}
	return nil
}

func printFindings(a *app, findings []data.Finding) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SET\tSPLIT\tSTATE\tSAMPLES\tOFFICIAL\tA CLASS\tDIGEST")
	for _, f := range findings {
		safetext.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%.12s\n", f.Name, f.Split, f.State, f.Samples, official(f), aClass(f.Histogram), f.Digest)
	}
	w.Flush()
	for _, f := range findings {
		if f.Problem != "" {
			a.printf("\n%s (%s): %s\n", f.Name, f.Split, f.Problem)
		}
	}
}

func official(f data.Finding) string {
	if f.Official == 0 {
		return "–"
	}
	return fmt.Sprint(f.Official)
}

// aClass shortens the sample counts of many classes to the smallest and the largest.
func aClass(histogram []int) string {
	if len(histogram) == 0 {
		return "–"
	}
	least, most := slices.Min(histogram), slices.Max(histogram)
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}
