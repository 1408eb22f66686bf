package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/rundir"
	trainer "collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/trials"
	"collapse.example/collapse/internal/train"
)

// searchRow is the JSON of the search of one combination of the grid.
type searchRow struct {
	Where    string     `json:"where,omitempty"`
	Metric   string     `json:"metric"`
	Reported []string   `json:"reported,omitempty"` // what a script's trials report, if that is never the metric
	Trials   []trialRow `json:"trials"`
	Best     int        `json:"best"` // number of a trial, from 1; 0: none yet
	Default  *trialRow  `json:"default,omitempty"`
	Final    []trialRow `json:"final,omitempty"`
	Spent    int        `json:"epochs"`       // trained by trials that ended
	Whole    int        `json:"whole_epochs"` // of all trials, had none been stopped early
	Wanted   int        `json:"wanted_trials"`
	head     string     // of the column of its values
	over     bool       // nothing more will be computed
	full     int        // epochs of a trial that is not stopped early
	script   bool       // whose runs at the end differ from the trials in their seed alone
}

// trialRow is the JSON of a trial. Value and Test are null if missing.
type trialRow struct {
	Number   int          `json:"number,omitempty"` // from 1
	Role     string       `json:"role"`
	Run      string       `json:"run"`
	Status   store.Status `json:"status"`
	Epochs   int          `json:"epochs"`
	Reached  int          `json:"reached"` // the last epoch with values
	Settings []string     `json:"settings,omitempty"`
	Value    *float64     `json:"value"`
	Lacks    string       `json:"lacks,omitempty"`  // what a run that has ended has instead of a value
	Newest   *float64     `json:"newest,omitempty"` // of a run under way, the value at the last epoch with values
	Test     *float64     `json:"test_accuracy"`
	Error    string       `json:"error,omitempty"`
	Command  string       `json:"command,omitempty"` // how a script was started
	Code     string       `json:"code,omitempty"`    // of a script: its files, with the beginnings of their SHA-256
	Copy     string       `json:"copy,omitempty"`    // a folder with a copy of that code, if this machine has one
	Dir      string       `json:"dir"`               // of the run's files
	// Config are the settings by name; Checkpoint is the folder of the newest checkpoint, "" if there is none.
	Config     map[string]any `json:"config,omitempty"`
	Checkpoint string         `json:"checkpoint,omitempty"`
	Further    *further       `json:"further,omitempty"` // what goes on from this run to the next rung, and has not ended
	shared     []string       // settings that all runs of the study share
}

// further is a run that goes on from a trial's.
type further struct {
	Run     string       `json:"run"`
	Status  store.Status `json:"status"`
	Epochs  int          `json:"epochs"`
	Reached int          `json:"reached"`
	Newest  *float64     `json:"newest,omitempty"`
}

// inWords says how far it has got, such as "running, epoch 8 of 12, now 0.4007".
func (f *further) inWords() string {
	if f.Status == store.Pending {
		return fmt.Sprintf("waiting to go on to epoch %d", f.Epochs)
	}
	words := fmt.Sprintf("%s, epoch %d of %d", f.Status, f.Reached, f.Epochs)
	if f.Newest != nil {
		words += ", now " + orDash(f.Newest)
	}
	return words
}

func trialRowOf(lab *store.Reader, r trials.Row) trialRow {
	row := trialRow{Role: r.Role, Run: r.Hash, Status: r.Status, Lacks: r.Lacks, Epochs: r.Epochs, Reached: r.Reached, Settings: append(append([]string{}, r.Settings...), r.Final...), Error: r.Error, Command: trainer.Command(lab.RunDir(r.Hash)), Dir: lab.RunDir(r.Hash)}
	if r.Role == study.RoleTrial {
		row.Number = r.Number + 1
	}
	if !math.IsNaN(r.Value) {
		row.Value = &r.Value
	}
	row.Newest, row.Config = r.Newest, settingsByName(row.Settings)
	if next := r.Further; next != nil {
		row.Further = &further{next.Hash, next.Status, next.Epochs, next.Reached, next.Newest}
	}
	if dir := rundir.Dir(row.Dir); r.Status == store.Done {
		if epoch := dir.NewestCheckpoint(r.Epochs); epoch > 0 {
			row.Checkpoint = dir.Checkpoint(epoch)
		}
	}
	if !math.IsNaN(r.Test) {
		row.Test = &r.Test
	}
	return row
}

// settingsByName are settings such as opt="sgd" as an object.
func settingsByName(settings []string) map[string]any {
	config := map[string]any{}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			v = value // a date, for example
		}
		config[key] = v
	}
	return config
}

// readCode finds the code of a script's run, and the settings that all of its study's runs share.
func (t *trialRow) readCode(lab *store.Reader) error {
	run, err := lab.Run(t.Run)
	if err != nil || run.Kind != store.Script {
		return err
	}
	settings, _, err := study.Settings([]store.Run{run})
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(settings[0])) {
		if _, said := t.Config[key]; said || strings.HasPrefix(key, "trainer.") || strings.HasPrefix(key, "run.") {
			continue
		}
		t.Config[key] = settings[0][key]
		t.shared = append(t.shared, key+"="+train.Literal(settings[0][key]))
	}
	t.Code, t.Copy = trainer.CodeWords(t.Dir, run.Config), trainer.Copy(t.Dir, run.Config)
	return nil
}

// searchRows is the progress of a study's searches; empty if it is not a search.
func searchRows(lab *store.Reader, s store.Study) ([]searchRow, error) {
	f, err := study.SearchOf(s)
	if f == nil || err != nil {
		return nil, err
	}
	found, err := trials.Look(lab, f)
	if err != nil {
		return nil, err
	}
	over, err := trials.Ended(lab, s)
	if err != nil {
		return nil, err
	}
	var rows []searchRow
	for _, p := range found {
		row := searchRow{over: over && s.Open() == 0, full: f.Search.Epochs, Where: p.Where, Metric: f.Search.MetricName(), head: strings.ToUpper(f.Search.MetricName()), Trials: []trialRow{}, Reported: p.Reported, Spent: p.Spent, Whole: p.Whole, Wanted: p.Wanted}
		if f.Trainer != nil { // a script's own name
			row.head, row.script = row.Metric, true
		}
		for _, r := range p.Rows {
			row.Trials = append(row.Trials, trialRowOf(lab, r))
		}
		if p.Best >= 0 {
			row.Best = p.Rows[p.Best].Number + 1
			if err := row.Trials[p.Best].readCode(lab); err != nil {
				return nil, err
			}
		}
		if p.Default != nil {
			d := trialRowOf(lab, *p.Default)
			row.Default = &d
		}
		for _, r := range p.Final {
			row.Final = append(row.Final, trialRowOf(lab, r))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// again are the values of a script's best settings with further seeds.
func (s searchRow) again() (values []float64) {
	for _, t := range s.Final {
		if s.script && t.Role == study.RoleBest && t.Value != nil {
			values = append(values, *t.Value)
		}
	}
	return values
}

// asGood are the numbers of other trials with the best one's value at the same epoch.
func (s searchRow) asGood(best trialRow) (numbers []string) {
	for _, t := range s.Trials {
		if t.Number != best.Number && t.Epochs == best.Epochs && t.Value != nil && *t.Value == *best.Value {
			numbers = append(numbers, fmt.Sprint(t.Number))
		}
	}
	return numbers
}

// best is the best trial, if there is one yet.
func (s searchRow) best() (trialRow, bool) {
	at := slices.IndexFunc(s.Trials, func(t trialRow) bool { return t.Number == s.Best })
	if at < 0 {
		return trialRow{}, false
	}
	return s.Trials[at], true
}

// tested reports whether any run has an accuracy on test samples.
func (s searchRow) tested() bool {
	all := slices.Concat(s.Trials, s.Final)
	if s.Default != nil {
		all = append(all, *s.Default)
	}
	return slices.ContainsFunc(all, func(t trialRow) bool { return t.Test != nil })
}
