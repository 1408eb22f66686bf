package cli

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"collapse/data"
)

type dataCmd struct {
	List  dataListCmd  `cmd:"" help:"Every data set the program knows, and where it comes from."`
	Check dataCheckCmd `cmd:"" help:"Read every data set whole and report what is present, missing or broken."`
}

type dataListCmd struct{}

func (dataListCmd) Run(a *app) error {
	type row struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Origin  string `json:"origin"` // "" for a built-in set
		Classes int    `json:"classes"`
	}
	var rows []row
	for _, info := range data.List() {
		rows = append(rows, row{info.Name, info.Title, info.Origin, info.Classes})
	}
	return a.emit(rows, func() {
		for _, r := range rows {
			a.printf("%-14s %s; up to %d classes; %s\n", r.Name, r.Title, r.Classes, cmp.Or(r.Origin, "built in"))
		}
	})
}

type dataCheckCmd struct {
	Root string `help:"Directory that holds the data sets (default: COLLAPSE_DATA)." env:"COLLAPSE_DATA" type:"path" placeholder:"DIR"`
}

func (c dataCheckCmd) Run(a *app) error {
	findings := data.Check(c.Root)
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
	fmt.Fprintln(w, "SET\tSPLIT\tSTATE\tSAMPLES\tA CLASS\tDIGEST")
	for _, f := range findings {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%v\t%.12s\n", f.Name, f.Split, f.State, f.Samples, f.Histogram, f.Digest)
	}
	w.Flush()
	for _, f := range findings {
		if f.Problem != "" {
			a.printf("\n%s (%s): %s\n", f.Name, f.Split, f.Problem)
		}
	}
}
