package study

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// searchMark is the first line of the source of a study that is a search, so that it can be read back.
const searchMark = "# A search; written by collapse.\n"

// searchText writes the file with the command line's changes and all defaults filled in.
func (f *File) searchText() string {
	var b strings.Builder
	d := f.Search
	fmt.Fprintf(&b, "%s[study]\nname = %s\n", searchMark, train.Literal(f.Name))
	if f.Title != "" {
		fmt.Fprintf(&b, "title = %s\n", train.Literal(f.Title))
	}
	if len(f.seeds) > 0 {
		fmt.Fprintf(&b, "seeds = %s\n", strings.ReplaceAll(fmt.Sprint(f.seeds), " ", ", "))
	}
	if f.Trainer != nil {
		b.WriteString(f.Trainer.text())
	}
	last := map[string]string{}
	for _, s := range f.base {
		key, value, _ := strings.Cut(s, "=")
		last[key] = value
	}
	if len(last) > 0 {
		b.WriteString("\n[base]\n")
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		fmt.Fprintf(&b, "%q = %s\n", key, last[key])
	}
	writeAxes(&b, "grid", f.axes)
	fmt.Fprintf(&b, "\n[search]\nsampler = %q\nschedule = %q\ntrials = %d\nepochs = %d\nmin_epochs = %d\neta = %d\nbatch = %d\nmetric = %q\ngoal = %q\nseed = %d\ncompare = %t\n",
		d.Sampler, d.Schedule, d.Trials, d.Epochs, d.MinEpochs, d.Eta, d.Batch, d.MetricName(), d.Goal, d.Seed, d.Compare)
	b.WriteString("\n[search.space]\n")
	for _, p := range d.Space {
		fmt.Fprintf(&b, "%q = { %s }\n", p.Name, p.toml())
	}
	writeAxes(&b, "search.final", d.final)
	if asked, err := toml.Marshal(f.questions); err == nil { // what was decoded can be encoded
		b.WriteString("\n" + string(asked))
	}
	return b.String()
}

func writeAxes(b *strings.Builder, table string, axes []axis) {
	if len(axes) > 0 {
		fmt.Fprintf(b, "\n[%s]\n", table)
	}
	for _, a := range axes {
		fmt.Fprintf(b, "%q = [%s]\n", a.key, strings.Join(a.values, ", "))
	}
}

func (p SearchParam) toml() string {
	text := fmt.Sprintf("uniform = [%s, %s]", train.Literal(p.Low), train.Literal(p.High))
	switch {
	case p.Whole:
		text = fmt.Sprintf("integer = [%.0f, %.0f]", p.Low, p.High)
	case p.Scale == search.LogUniform:
		text = "log_" + text
	case p.Scale == search.Choice:
		text = "choice = [" + strings.Join(p.Values, ", ") + "]"
	}
	if len(p.When) > 0 {
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(p.When)) {
			parts = append(parts, fmt.Sprintf("%q = [%s]", key, strings.Join(p.When[key], ", ")))
		}
		text += ", when = { " + strings.Join(parts, ", ") + " }"
	}
	return text
}

// Arguments are those of `collapse study run` that go with the text of a study's file, as the study keeps it.
func Arguments(source string) (args []string) {
	for line := range strings.Lines(source) {
		flag, value, found := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "# "), " ")
		if !strings.HasPrefix(line, "# --") || !found {
			break
		}
		args = append(args, flag, value)
	}
	return args
}

// Overrides are what --set and --seeds said when a study was last run, of the text of its file in the lab.
func Overrides(source string) (sets []string, seeds int) {
	args := Arguments(source)
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--set":
			sets = append(sets, args[i+1])
		case "--seeds":
			seeds, _ = strconv.Atoi(args[i+1])
		}
	}
	return sets, seeds
}

// SearchOf reads a study of the lab back as the file of a search; nil if it is not one.
func SearchOf(s store.Study) (*File, error) {
	if !strings.HasPrefix(s.Source, searchMark) {
		return nil, nil
	}
	return ParseFile(s.Name+".toml", []byte(s.Source), nil, 0)
}
