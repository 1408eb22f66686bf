package cli

import (
	"encoding/json"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/internal/safetext"
	trainer "collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

type runsDiffCmd struct {
	A string `arg:"" complete:"runs" help:"Hash of a run, or the start of it." placeholder:"HASH"`
	B string `arg:"" complete:"runs" help:"Hash of another." placeholder:"HASH"`
}

// codeKey begins the settings that are digests of code.
const codeKey = "trainer.code."

// runsDiffer is what runs diff prints.
type runsDiffer struct {
	Runs     [2]string          `json:"runs"`
	Settings []differs          `json:"settings"`
	Code     []trainer.FileDiff `json:"code"`
}

// differs is a setting; null where a run lacks it.
type differs struct {
	Key    string `json:"key"`
	Values [2]any `json:"values"`
}

func (c runsDiffCmd) Run(a *app, r *store.Reader) error {
	var runs []store.Run
	for _, prefix := range []string{c.A, c.B} {
		run, err := r.Find(prefix)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	found := runsDiffer{Runs: [2]string{runs[0].Hash, runs[1].Hash}, Settings: []differs{}, Code: []trainer.FileDiff{}}
	settings, keys, err := study.Settings(runs)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !strings.HasPrefix(key, codeKey) {
			found.Settings = append(found.Settings, differs{key, [2]any{settings[0][key], settings[1][key]}})
		}
	}
	if runs[0].Kind == store.Script && runs[1].Kind == store.Script {
		var code [2]map[string]string
		for i, run := range runs {
			if code[i], err = trainer.CodeOf(r.RunDir(run.Hash), run.Config); err != nil {
				return err
			}
		}
		found.Code = append(found.Code, trainer.DiffCode(code[0], code[1])...)
	}
	return a.emit(found, func() { printDiff(a, found) })
}

func printDiff(a *app, found runsDiffer) {
	if len(found.Settings)+len(found.Code) == 0 {
		if found.Runs[0] != found.Runs[1] {
			a.printf("These runs have the same settings and the same code, which counts as another in one of them ([trainer] same_as).\n")
			return
		}
		a.printf("That is one run.\n")
		return
	}
	if len(found.Settings) > 0 {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		safetext.Fprintf(w, "SETTING\t%.12s\t%.12s\n", found.Runs[0], found.Runs[1])
		for _, d := range found.Settings {
			safetext.Fprintf(w, "%s\t%s\t%s\n", d.Key, shownSetting(d.Values[0]), shownSetting(d.Values[1]))
		}
		w.Flush()
	}
	for _, f := range found.Code {
		if f.Why != "" {
			a.printf("\n%s differs: %s\n", f.File, f.Why)
			continue
		}
		a.print("\n")
		for line := range strings.Lines(f.Diff) {
			a.print(safetext.Line(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")) + "\n") // not folded
		}
	}
}

// shownSetting is a setting as people read it; a dash for none.
func shownSetting(v any) string {
	if text := study.SettingText(v); text != "" {
		return text
	}
	if list, err := json.Marshal(v); err == nil && v != nil {
		return string(list)
	}
	return "–"
}
