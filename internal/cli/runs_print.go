package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"

	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/internal/store"
)

// roomForDates is the least screen width at which the list shows when runs were made.
const roomForDates = 120

// printRuns prints lines of at most the given width; 0: any width. If that is too narrow, what all runs share is printed once, above, and
// each run has the few words that tell it from the others, on several lines if need be.
func printRuns(a *app, rows []listedRun, width int) {
	lines := runLines(rows, width)
	if width > 0 && slices.ContainsFunc(lines, func(l string) bool { return utf8.RuneCountInString(l) > width }) {
		short, shared := slices.Clone(rows), sharedWords(rows)
		for i := range short {
			short[i].What = strings.Join(slices.DeleteFunc(slices.Clone(rows[i].brief), func(w string) bool { return slices.Contains(shared, w) }), ", ")
		}
		if shared != nil {
			a.printf("%s\n", cut("in all of them: "+strings.Join(shared, ", "), width))
		}
		lines = foldedRuns(runLines(short, width), width)
	}
	for _, line := range lines {
		a.print(cut(line, width) + "\n")
	}
}

// foldedRuns breaks lines of the table, whose last column is words, where they are too long.
func foldedRuns(lines []string, width int) (out []string) {
	at := utf8.RuneCountInString(lines[0]) - len("WHAT")
	for _, line := range lines {
		text := []rune(line)
		if len(text) <= width || at >= width-10 {
			out = append(out, line)
			continue
		}
		for i, words := range screen.Wrap(string(text[at:]), width-at) {
			lead := strings.Repeat(" ", at)
			if i == 0 {
				lead = string(text[:at])
			}
			out = append(out, lead+words)
		}
	}
	return out
}

// sharedWords are the words common to all runs of a list of several.
func sharedWords(rows []listedRun) []string {
	if len(rows) < 2 {
		return nil
	}
	var shared []string
	for _, w := range rows[0].words {
		if !slices.ContainsFunc(rows, func(r listedRun) bool { return !slices.Contains(r.words, w) }) {
			shared = append(shared, w)
		}
	}
	return shared
}

// runLines is the table of runs, with dates if there is room.
func runLines(rows []listedRun, width int) []string {
	dates := width == 0 || width >= roomForDates
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	own := slices.ContainsFunc(rows, func(r listedRun) bool { return r.Reported != "" })
	measured := !own || slices.ContainsFunc(rows, func(r listedRun) bool {
		return r.Results[listedResults[1]] != nil || r.Results[listedResults[2]] != nil
	})
	scripts := !slices.ContainsFunc(rows, func(r listedRun) bool { return r.Kind != store.Script }) && len(rows) > 0
	head, shown := []string{"RUN", "STATUS", "EPOCHS"}, []string{}
	for i, name := range []string{"", "TEST ACC", "NC1"} { // of scripts what some have
		if i > 0 && measured && (!own && !scripts || slices.ContainsFunc(rows, func(r listedRun) bool { return r.Results[listedResults[i]] != nil })) {
			head, shown = append(head, name), append(shown, listedResults[i])
		}
	}
	if len(rows) > 0 && rows[0].sorted != "" && !slices.Contains(shown, rows[0].sorted) {
		head, shown = append(head, safetext.Line(rows[0].sorted)), append(shown, rows[0].sorted)
	}
	if own {
		head = append(head, "REPORTED")
	}
	if dates {
		head = append(head, "CREATED")
	}
	fmt.Fprintln(w, strings.Join(append(head, "WHAT"), "\t"))
	for _, r := range rows {
		safetext.Fprintf(w, "%.12s\t%s\t%s\t", r.Run, r.Status, r.progress())
		for _, name := range shown {
			safetext.Fprintf(w, "%s\t", orDash(r.Results[name]))
		}
		if own {
			safetext.Fprintf(w, "%s\t", r.Reported)
		}
		if dates {
			safetext.Fprintf(w, "%s\t", r.Created.Local().Format("2006-01-02 15:04"))
		}
		safetext.Fprintf(w, "%s\n", r.What)
	}
	w.Flush()
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// progress is "20/200": epochs done of epochs planned.
func (r listedRun) progress() string {
	has := "–"
	if r.Epoch != nil {
		has = fmt.Sprint(*r.Epoch)
	}
	if r.Epochs != nil && (r.Epoch == nil || *r.Epoch != *r.Epochs) {
		return has + "/" + fmt.Sprint(*r.Epochs)
	}
	return has
}

// cut shortens a line to a width and marks it with an ellipsis; 0: unchanged.
func cut(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}

// screenWidth is the width of the output terminal; 0 if it is not a terminal.
func screenWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
			return width
		}
	}
	return 0
}
