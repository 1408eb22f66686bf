package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// trainResult is the JSON document of `collapse train`.
type trainResult struct {
	train.Result
	Finding string   `json:"finding"` // the headline of `collapse measure` on the training features; "" if they cannot be measured
	States  []string `json:"states"`  // warnings: see judge.State
	Theory  string   `json:"theory"`  // the run beside the optimum over free features; "" where theory does not speak of it

	warnings []judge.State
}

// conclude says what a finished run shows. What stands in the way leaves words out and fails nothing: the run is complete.
func conclude(a *app, lab *store.Lab, r train.Result) trainResult {
	out := trainResult{Result: r, States: []string{}}
	if runs, err := judge.Load(lab, r.Run); err == nil && len(runs) == 1 {
		out.warnings, out.Theory = runs[0].States(), runs[0].Theory()
	}
	for _, s := range out.warnings {
		out.States = append(out.States, s.Name)
	}
	if finding, err := measurement.HeadlineOfRun(a.ctx, lab.RunDir(r.Run), nil); err == nil {
		out.Finding = finding
	}
	return out
}

// finalRow is a row of the final table; collapse runs show prints every measure.
type finalRow struct{ key, name string }

// finalRows are loss and accuracy, NC1 to NC4, dilation and memorization.
func finalRows() []finalRow {
	rows := []finalRow{{"loss", "loss"}, {measure.KeyAccuracy, "accuracy"}}
	for _, p := range measure.Properties() {
		rows = append(rows, finalRow{p.Key, p.Name + "  " + p.Short})
	}
	return append(rows, finalRow{measure.KeyDilation, "dilation"}, finalRow{measure.KeyMemFlipped, "memorization"})
}

// finalSplits are the columns; a column without samples is left out.
var finalSplits = []string{"train", "validation", "test"}

// printResult prints a short table of a run's results, and what to type next.
func printResult(a *app, r trainResult) {
	if r.AlreadyDone {
		a.notef("The lab already holds this configuration (--again computes it again).\n")
	}
	if r.Finding != "" {
		a.printf("%s.\n", r.Finding)
	}
	for _, s := range r.warnings {
		a.printf("%s: %s\n", format.Capital(s.Name), s.Sentence)
	}
	if r.Theory != "" {
		a.printf("%s\n", r.Theory)
	}
	a.printf("\n")
	var splits []string
	for _, split := range finalSplits {
		if _, ok := r.Values[split+"/loss"]; ok {
			splits = append(splits, split)
		}
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	safetext.Fprintf(w, "after epoch %d", r.Epochs)
	for _, split := range splits {
		safetext.Fprintf(w, "\t%s", split)
	}
	safetext.Fprintf(w, "\n")
	for _, row := range finalRows() {
		printFinal(w, r.Values, splits, row)
	}
	w.Flush()
	if a.flags.Quiet {
		return
	}
	a.printf("\nrun            %s\n", a.hash(r.Run))
	if a.flags.Verbose {
		a.printf("checkpoint     %s\n", r.Checkpoint)
	}
	a.printf("every measure  %s\na page         %s\n", a.next(fmt.Sprintf("runs show %.12s", r.Run)), a.next(fmt.Sprintf("report %.12s --open", r.Run)))
}

// hash writes the hash of a run: its start, which names it everywhere, or all of it with --verbose.
func (a *app) hash(of string) string {
	if a.flags.Verbose {
		return of
	}
	return fmt.Sprintf("%.12s", of)
}

// printFinal prints the line of a measure, unless the run has no value of it.
func printFinal(w io.Writer, values map[string]float64, splits []string, row finalRow) {
	line, found := row.name, false
	if rank, known := values["train/"+measure.KeyRankBetween]; known && rank == 1 && row.key == measure.KeyNC2MeansCentred {
		safetext.Fprintf(w, "%s\t–\t%s\n", line, measurement.NothingOfTwo)
		return
	}
	for _, split := range splits {
		text := "–"
		if v, ok := values[split+"/"+row.key]; ok {
			text, found = measurement.ShortValue(row.key, v), true
		}
		line += "\t" + text
	}
	if found {
		fmt.Fprintln(w, line)
	}
}
