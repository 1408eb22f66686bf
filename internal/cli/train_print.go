package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"collapse/internal/safetext"
	"collapse/internal/train"
	"collapse/measure"
)

// finalMeasures are the measures in the final table; collapse runs show prints all.
var finalMeasures = []string{"loss", measure.KeyAccuracy, measure.KeyNC1Pinv, measure.KeyNC2MeansETF, measure.KeyNC2W, measure.KeyNC3Direct,
	measure.KeyNC4NCCMismatch, measure.KeyDilation, measure.KeyMemRedrawn}

// finalSplits are the columns; a column without samples is left out.
var finalSplits = []string{"train", "validation", "test"}

// printResult prints a short table of a run's results, and what to type next.
func printResult(a *app, r train.Result) {
	if r.AlreadyDone {
		a.notef("The lab already holds this configuration (--again computes it again).\n")
	}
	var splits []string
	for _, split := range finalSplits {
		if _, ok := r.Values[split+"/loss"]; ok {
			splits = append(splits, split)
		}
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	safetext.Fprintf(w, "after epoch %d\t", r.Epochs)
	for _, split := range splits {
		safetext.Fprintf(w, "\t%s", split)
	}
	safetext.Fprintf(w, "\n")
	for _, m := range finalMeasures {
		printFinal(w, r.Values, splits, m)
	}
	w.Flush()
	a.printf("\nrun            %s\ncheckpoint     %s\nevery measure  %s\na page         %s\n",
		r.Run, r.Checkpoint, a.next(fmt.Sprintf("runs show %.12s", r.Run)), a.next(fmt.Sprintf("report %.12s --open", r.Run)))
}

// printFinal prints the line of a measure, unless the run has no value of it.
func printFinal(w io.Writer, values map[string]float64, splits []string, key string) {
	line, found := key+"\t", false
	if d, ok := measure.Lookup(key); ok && d.Name != key {
		line += d.Name
	}
	for _, split := range splits {
		text := "–"
		if v, ok := values[split+"/"+key]; ok {
			text, found = fmt.Sprintf("%.4g", v), true
		}
		line += "\t" + text
	}
	if found {
		fmt.Fprintln(w, line)
	}
}
