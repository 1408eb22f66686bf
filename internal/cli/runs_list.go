package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

type runsListCmd struct {
	Status  string   `enum:",pending,running,done,failed,interrupted" default:"" help:"Only runs in this state: pending, running, done, failed or interrupted." placeholder:"STATE"`
	Study   string   `complete:"studies" help:"Only runs of this study, as it is now: without those that its file no longer has." placeholder:"NAME"`
	Where   []string `complete:"settings" help:"Only runs with this setting. May be repeated." placeholder:"KEY=VALUE" sep:"none"`
	Sort    string   `help:"Order: a setting, or a value at the last epoch such as test/accuracy, the least first. Default: the newest first." placeholder:"NAME"`
	Reverse bool     `help:"The other way round: the largest first, or the oldest."`
	Limit   int      `help:"Show at most this many; 0 shows all." default:"0" placeholder:"N"`
}

func (runsListCmd) Help() string {
	return `One line per run: its state, epochs done and planned, test accuracy and NC1 of the training features at the last
measured epoch, and what it is: network, data set with the number of classes, loss, then what differs between the runs of the list, but for defaults.
A narrow terminal shows as few of these as tell the runs apart; --json has all. A dash marks what a run does not have.`
}

// listedRun is a run of the list in JSON.
type listedRun struct {
	runRow
	What    string              `json:"what"`
	words   []string            // What in its parts
	brief   []string            // as few words as tell the runs of the list apart
	Trial   int                 `json:"trial,omitempty"` // of the study's search, from 1; no number of other studies
	Epochs  *int64              `json:"epochs"`          // planned; null if nothing is trained
	Results map[string]*float64 `json:"results"`
	// Reported are the first values of a script that has none of the main results.
	Reported string `json:"reported,omitempty"`
	inSearch bool   // of which What begins with the trial
	sorted   string // the name by whose value the list is sorted, if it is no setting
}

// sortedBy notes the value by which the list is sorted, if values has any.
func (r *listedRun) sortedBy(name string, values map[string]float64) {
	if values == nil {
		return
	}
	r.sorted, r.Results[name] = name, nil
	if v, ok := values[r.Run]; ok {
		r.Results[name] = &v
	}
}

// mostReported bounds the scripts of a list whose own values are read.
const mostReported = 300

// listedResults are the main results, as "split/measure".
var listedResults = []string{"train/" + measure.KeyAccuracy, "test/" + measure.KeyAccuracy, "train/" + measure.KeyNC1Pinv}

func (c runsListCmd) Run(a *app) error {
	if c.Limit < 0 {
		return usagef("--limit is %d; wanted at least 0", c.Limit)
	}
	r, err := a.reader()
	if err != nil {
		return err
	}
	filter := store.Filter{Limit: c.Limit, Study: c.Study}
	if c.chooses() {
		filter.Limit = 0
	}
	if c.Study != "" {
		if _, err := r.Study(c.Study); err != nil {
			return err
		}
	}
	if c.Status != "" {
		filter.Statuses = []store.Status{store.Status(c.Status)}
	}
	runs, err := r.List(filter)
	if err != nil {
		return err
	}
	runs, values, err := c.choose(r, runs)
	if err != nil {
		return err
	}
	among := runs
	if c.Limit > 0 {
		runs = runs[:min(len(runs), c.Limit)]
	}
	rows, err := listRuns(r, runs, among)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].sortedBy(c.Sort, values)
	}
	if err := c.numberTrials(r, rows); err != nil {
		return err
	}
	if a.flags.JSON {
		if err := addReported(r, rows); err != nil {
			return err
		}
	}
	if len(rows) == 0 && len(c.Where) > 0 {
		a.notef("no run has %s\n", strings.Join(c.Where, " and "))
	}
	return a.emit(rows, func() { printRuns(a, rows, screenWidth(a.file1)) })
}

// addReported adds what scripts reported last to the results, under the names that the scripts give.
func addReported(r *store.Reader, rows []listedRun) error {
	for i := range rows {
		if rows[i].Kind != store.Script {
			continue
		}
		keys, err := r.Keys(rows[i].Run)
		if err != nil {
			return err
		}
		var measures []string
		for _, k := range keys {
			measures = append(measures, k.Measure)
		}
		newest, err := r.NewestEach([]string{rows[i].Run}, measures)
		if err != nil {
			return err
		}
		for _, v := range newest[0] {
			name := judge.NameOf(judge.SeriesKey{Split: v.Split, Measure: v.Measure})
			rows[i].Results[name] = nil
			if v.Missing == "" {
				rows[i].Results[name] = &v.Value
			}
		}
	}
	return nil
}

// mostSearches bounds the searches of a lab, the newest, whose trials a list names.
const mostSearches = 20

// numberTrials notes which trial of a search each run is: of the study that was asked for, or of the lab's newest ones.
func (c runsListCmd) numberTrials(r *store.Reader, rows []listedRun) error {
	all, err := r.Studies()
	if err != nil {
		return err
	}
	for n, looked := 0, 0; n < len(all) && looked < mostSearches; n++ {
		f, err := study.SearchOf(all[n])
		if err != nil {
			return err
		}
		if f == nil || c.Study != "" && f.Name != c.Study {
			continue
		}
		looked++
		if err := numberTrialsOf(r, f, rows, len(all) > 1 && c.Study == ""); err != nil {
			return err
		}
	}
	return nil
}

// numberTrialsOf notes the trials of one search, named by its study if there are others; those that have a name keep it.
func numberTrialsOf(r *store.Reader, f *study.File, rows []listedRun, others bool) error {
	runs, err := r.StudyRuns(f.Name)
	if err != nil {
		return err
	}
	trials := map[string]study.Trial{}
	for _, run := range runs {
		trials[run.Hash] = study.TrialOf(run.Payload)
	}
	for i := range rows {
		t := trials[rows[i].Run]
		if rows[i].inSearch {
			continue
		}
		if t.Role == study.RoleTrial && t.Number < f.Search.Trials {
			rows[i].Trial = t.Number + 1
		}
		if name := nameOfTrial(t, f.Search.Trials); name != "" {
			if rows[i].inSearch = true; others {
				name = f.Name + ": " + name
			}
			rows[i].What = name + ", " + rows[i].What
			rows[i].words, rows[i].brief = append([]string{name}, rows[i].words...), append([]string{name}, rows[i].brief...)
		}
	}
	return nil
}

// nameOfTrial is what a run of a search of so many trials is called in a list; "" for a run of none.
func nameOfTrial(t study.Trial, trials int) string {
	switch {
	case t.Role == study.RoleTrial && t.Number >= trials:
		return "earlier trial"
	case t.Role == study.RoleTrial:
		return fmt.Sprintf("trial %d", t.Number+1)
	}
	return map[string]string{study.RoleDefault: "default", study.RoleBest: "best again", study.RoleDefaultFinal: "default again"}[t.Role]
}

// listRuns describes runs by what differs among them and others that were asked for.
func listRuns(r *store.Reader, runs, among []store.Run) ([]listedRun, error) {
	settings, _, err := study.Settings(runs)
	if err != nil {
		return nil, err
	}
	_, differ, err := study.Settings(among)
	if err != nil {
		return nil, err
	}
	if len(among) == 1 && among[0].Kind == store.Script { // all that it is
		differ = slices.Sorted(maps.Keys(settings[0]))
	}
	differ = withoutOnlyCode(differ, settings)
	telling := tellingOf(settings, differ)
	results, err := mainResults(r, runs)
	if err != nil {
		return nil, err
	}
	rows, defaults := make([]listedRun, len(runs)), train.DefaultSettings()
	for i, run := range runs {
		words := runInWords(run, settings[i], defaults, differ)
		rows[i] = listedRun{runRow: rowOf(run), Results: results[i], What: strings.Join(words, ", "), words: words, brief: runInWords(run, settings[i], defaults, telling)}
		if run.Kind == store.Script && i < mostReported && !slices.ContainsFunc(listedResults, func(name string) bool { return results[i][name] != nil }) {
			rows[i].Reported = study.KindOf(run.Kind).Headline(r, run.Hash)
		}
		if n, ok := settings[i]["run.epochs"]; ok {
			var epochs int64
			if _, err := fmt.Sscan(study.SettingText(n), &epochs); err == nil {
				rows[i].Epochs = &epochs
			}
		}
	}
	return rows, nil
}

// mainResults are the results of each run's last measured epoch, null where missing.
func mainResults(r *store.Reader, runs []store.Run) ([]map[string]*float64, error) {
	hashes := make([]string, len(runs))
	for i, run := range runs {
		hashes[i] = run.Hash
	}
	values, err := r.NewestEach(hashes, []string{measure.KeyAccuracy, measure.KeyNC1Pinv})
	if err != nil {
		return nil, err
	}
	out := make([]map[string]*float64, len(runs))
	for i := range out {
		out[i] = map[string]*float64{}
		for _, name := range listedResults {
			out[i][name] = nil
		}
		for _, v := range values[i] {
			if _, wanted := out[i][v.Split+"/"+v.Measure]; wanted && v.Missing == "" {
				out[i][v.Split+"/"+v.Measure] = &v.Value
			}
		}
	}
	return out, nil
}
