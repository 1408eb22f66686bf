package cli

import (
	"errors"
	"fmt"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

type studyMeasureCmd struct {
	Name     string   `arg:"" name:"study" complete:"studies" help:"Name of the study."`
	Measures []string `complete:"measures" help:"What is measured: all, default, or keys of docs/measures.md, separated by commas." default:"all" placeholder:"LIST"`
	engineFlags
}

func (studyMeasureCmd) Help() string {
	return `Adds measures to finished runs without training. A training run is measured again of the checkpoints that it keeps (run.keep; the last one by
default), a script's run of the features that it gave and the lab kept (save_features in [trainer]; those of the newest epoch by default).
Values that a run has stay as they are, so that a second call changes nothing. Each run's values come in one transaction, with the program, its time and
what was measured: collapse runs show, and table measured of the lab. A call that is stopped can be made again.`
}

// measuredStudy is what `study measure --json` prints.
type measuredStudy struct {
	Study      string        `json:"study"`
	Runs       int           `json:"runs"`       // that were measured
	Added      int           `json:"added"`      // values
	Unfinished int           `json:"unfinished"` // runs that are not done
	Left       []unmeasured  `json:"left"`
	Errors     int           `json:"errors"` // of those left
	measured   []measuredRun // for people
}

type measuredRun struct {
	hash, note string
	added      int
}

// unmeasured is a run that was not measured.
type unmeasured struct {
	Run  string `json:"run"`
	Note string `json:"note"`
	Why  string `json:"why"`
}

func (c studyMeasureCmd) Run(a *app, lab *store.Lab) error {
	if _, err := measure.NewEngine[float32](measure.Options{Measures: c.Measures}); err != nil {
		return unnamed(err)
	}
	runs, err := lab.StudyRuns(c.Name)
	if err != nil {
		return err
	}
	if len(runs) == 0 { // an unknown study has none, too
		if _, err := lab.Study(c.Name); err != nil {
			return err
		}
	}
	team := parallel.NewTeam(a.flags.Threads)
	defer team.Close()
	found := measuredStudy{Study: c.Name, Left: []unmeasured{}}
	for _, r := range runs {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if r.Status != store.Done {
			found.Unfinished++
			continue
		}
		n, err := study.MeasureLater(a.ctx, lab, r.Hash, train.Options{Team: team, Measures: c.Measures, Engines: c.engines(a, 1)})
		if ended := a.ctx.Err(); ended != nil {
			return ended
		}
		found.add(r, n, err)
	}
	if err := a.emit(found, func() { found.print(a) }); err != nil {
		return err
	}
	if found.Errors > 0 || found.Runs == 0 {
		return fmt.Errorf("%d of %s of %s were measured", found.Runs, format.Count(len(runs), "run"), c.Name)
	}
	return nil
}

func (m *measuredStudy) add(r store.StudyRun, added int, err error) {
	if err == nil {
		m.Runs, m.Added = m.Runs+1, m.Added+added
		m.measured = append(m.measured, measuredRun{r.Hash, r.Note, added})
		return
	}
	if kept := (*train.NothingKeptError)(nil); !errors.As(err, &kept) {
		m.Errors++
	}
	m.Left = append(m.Left, unmeasured{r.Hash, r.Note, err.Error()})
}

// print lists every run of few, and those that were not measured by what is to be done.
func (m *measuredStudy) print(a *app) {
	a.printf("%s: %s added to %s without training\n", m.Study, format.Count(m.Added, "value"), format.Count(m.Runs, "run"))
	for _, r := range m.measured[:min(len(m.measured), shown)] {
		a.printf("  %s  %s: %d\n", a.hash(r.hash), r.note, r.added)
	}
	if more := len(m.measured) - shown; more > 0 {
		a.printf("  and %s\n", format.Count(more, "more run"))
	}
	if m.Unfinished > 0 {
		a.printf("%s not finished: measured when they are, by the same call\n", format.Count(m.Unfinished, "run"))
	}
	why := map[string][]string{}
	for _, r := range m.Left {
		why[r.Why] = append(why[r.Why], fmt.Sprintf("%.12s (%s)", r.Run, r.Note))
	}
	for _, r := range m.Left {
		if runs := why[r.Why]; runs != nil {
			a.printf("not measured: %s: %s\n", strings.Join(runs[:min(len(runs), shown)], ", "), r.Why)
			delete(why, r.Why)
		}
	}
}
