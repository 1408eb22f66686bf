package serve

import (
	"cmp"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// runPage is one run.
type runPage struct {
	frame
	Run      runRow
	Tiles    []tile
	Figures  []shownFigure
	Rest     *shownFigure // every other measure, folded
	Features *featuresPart
	Why      string // why there are no features
	Settings []setting
	Attempts []store.Attempt
	Log      []logLine
	Columns  []logColumn
	Rerun    string // the command that resumes it or computes it again
	Command  string // how its script was started
	Folder   string // of its files
	Output   string // the end of what that wrote
}

type tile struct{ Value, Name string }

type setting struct{ Key, Value string }

// logLine is a measured epoch in words.
type logLine struct {
	Epoch  int64
	Values []string
}

// logColumn is a value of each line.
type logColumn struct {
	Name, Short string
	of          judge.SeriesKey
	write       func(key string, v float64) string
}

// logLines is how many of the newest epochs, and of the last lines of a script's output, the log shows.
const logLines = 40

// find returns the run that a request names, by its hash or the start of it, and the folder of its files.
func (s *Server) find(prefix string) (row store.Run, dir string, err error) {
	err = s.lab.read(func(lab *store.Reader) (err error) {
		row, err = lab.Find(prefix)
		dir = lab.RunDir(row.Hash)
		return err
	})
	return row, dir, err
}

// run is find with the run's values.
func (s *Server) run(prefix string) (run judge.Run, dir string, err error) {
	row, dir, err := s.find(prefix)
	if err != nil {
		return run, dir, err
	}
	run, err = ofLab(s.lab, func(lab *store.Reader) (judge.Run, error) { return s.cache.load(lab, row) })
	return run, dir, err
}

func (s *Server) runPage(w http.ResponseWriter, r *http.Request) error {
	run, dir, err := s.run(r.PathValue("hash"))
	if err != nil {
		return err
	}
	row := listed([]judge.Run{run}, time.Now())[0]
	attempts, err := ofLab(s.lab, func(lab *store.Reader) ([]store.Attempt, error) {
		of, err := lab.Memberships([]string{run.Hash})
		if err != nil {
			return nil, err
		}
		row.member(of[run.Hash])
		return lab.Attempts(run.Hash)
	})
	if err != nil {
		return err
	}
	p := runPage{frame: s.frame(r, "runs", row.Name), Run: row, Attempts: attempts}
	p.Live = run.Hash
	p.Tiles = runTiles(&row)
	base := "/run/" + run.Hash + "/figures"
	open := follows(r)
	p.Figures, p.Rest = curves(open, []judge.Run{run}, base, nil)
	if open.on {
		p.Features, err = newFrames(&run, dir)
	} else {
		p.Features, err = s.featuresPart(&run, dir, r.URL.Query())
	}
	if err != nil {
		p.Why = "No features are shown: " + err.Error() + "."
	}
	for _, k := range slices.Sorted(maps.Keys(run.Settings)) {
		p.Settings = append(p.Settings, setting{k, run.Settings[k]})
	}
	p.Columns = logColumns(&run)
	p.Log = logOf(&run, p.Columns)
	p.Rerun = rerun(run.Run, dir)
	if run.Kind == store.Script {
		p.Command, p.Folder = script.Command(dir), dir
		p.Output, _ = script.Output(dir, logLines)
	}
	s.write(w, http.StatusOK, "run", &p) // a pointer, because the template calls methods of the run
	return nil
}

// rerun is the command that resumes a run or tries it again; "" if there is none.
func rerun(run store.Run, dir string) string {
	config := rundir.Dir(dir).Config()
	if _, err := os.Stat(config); err != nil || run.Kind != store.Train {
		return "" // only its study can start it
	}
	switch run.Status {
	case store.Interrupted:
		return "collapse train --resume " + run.Hash[:12]
	case store.Failed:
		return "collapse train " + config + " --again"
	}
	return ""
}

// mostTiles bounds the tiles of values.
const mostTiles = 10

func runTiles(row *runRow) []tile {
	epoch := strconv.FormatInt(row.LastEpoch, 10)
	if row.Of > 0 {
		epoch += " of " + strconv.FormatInt(row.Of, 10)
	}
	out := []tile{{epoch, "epoch"}}
	if row.Measured > 0 && row.Status != store.Done && row.Settings["run.measure_every"] != "1" {
		out = append(out, tile{strconv.FormatInt(row.Measured, 10), "measured at epoch"})
	}
	values := []tile{{row.Accuracy, "train accuracy"}, {row.Test, "test accuracy"}}
	classes, _ := strconv.Atoi(row.Settings["data.classes"]) // 0: a script's run, which need not say
	for _, p := range measure.Properties() {
		if v, ok := row.Newest("train", p.Key); ok && !measurement.SaysNothing(p.Key, classes) {
			values = append(values, tile{measurement.ShortValue(p.Key, v.Value), p.Name + " (train)"})
		}
	}
	if row.Kind == store.Script {
		for _, k := range row.OwnKeys() {
			v, ok := row.Newest(k.Split, k.Measure)
			switch {
			case len(values) == mostTiles || k.Measure == measure.KeyAccuracy || k.Split == "train" && isProperty(k.Measure):
			case ok:
				values = append(values, tile{format.Measure(k.Measure, v.Value), judge.NameOf(k)})
			case v.Missing != "":
				values = append(values, tile{"no value", judge.NameOf(k) + ": " + v.Missing})
			}
		}
	}
	for _, t := range append(values, tile{row.Dilation, "dilation √NC1 (test)"}, tile{row.Memorization, "memorization"}) {
		if t.Value != "–" {
			out = append(out, t)
		}
	}
	if row.Left != "" {
		out = append(out, tile{row.Left, "left, about"})
	}
	return out
}

// isProperty reports whether a measure is one of NC1 to NC4, which have tiles of their own.
func isProperty(key string) bool {
	return slices.ContainsFunc(measure.Properties(), func(p measure.Property) bool { return p.Key == key })
}

// mostLogged bounds the values of a script that its log has columns for.
const mostLogged = 10

// logColumns are the values of a log: of this program's runs the same for all, of a script's what it reports.
func logColumns(run *judge.Run) (out []logColumn) {
	if run.Kind == store.Script {
		for _, k := range run.OwnKeys() {
			out = append(out, logColumn{Name: judge.NameOf(k), of: k, write: format.Measure})
		}
		return out[:min(len(out), mostLogged)]
	}
	column := func(name, short, split, key string, write func(string, float64) string) {
		out = append(out, logColumn{name, short, judge.SeriesKey{Split: split, Measure: key}, write})
	}
	column("train loss", "", "train", "loss", format.Measure)
	column("train acc.", "", "train", measure.KeyAccuracy, format.Measure)
	column("test acc.", "", "test", measure.KeyAccuracy, format.Measure)
	for _, p := range measure.Properties() {
		column(p.Name, p.Short, "train", p.Key, measurement.ShortValue)
	}
	column("dilation", "", "test", "dilation", format.Measure)
	return out
}

// logOf lists the newest measured epochs, newest first.
func logOf(run *judge.Run, columns []logColumn) []logLine {
	seen := map[int64]bool{}
	for i, c := range columns {
		if i > 0 && run.Kind != store.Script { // the others are measured when the loss is
			break
		}
		for _, p := range run.Rows(c.of.Split, "", c.of.Measure) {
			seen[p.Step] = seen[p.Step] || run.Kind == store.Script || p.Missing == ""
		}
	}
	maps.DeleteFunc(seen, func(_ int64, there bool) bool { return !there })
	epochs := slices.Sorted(maps.Keys(seen))
	var out []logLine
	for _, e := range slices.Backward(epochs[max(0, len(epochs)-logLines):]) {
		line := logLine{Epoch: e}
		for _, c := range columns {
			line.Values = append(line.Values, c.at(run, e))
		}
		out = append(out, line)
	}
	return out
}

// at is the value of an epoch in words.
func (c logColumn) at(run *judge.Run, epoch int64) string {
	points := run.Rows(c.of.Split, "", c.of.Measure)
	i, there := slices.BinarySearchFunc(points, epoch, func(p store.Point, e int64) int { return cmp.Compare(p.Step, e) })
	switch {
	case there && points[i].Missing != "" && run.Kind == store.Script:
		return points[i].Lack()
	case !there || points[i].Missing != "":
		return "–"
	}
	return c.write(c.of.Measure, points[i].Value)
}

// runFigures are the pictures of measures against epoch.
func (s *Server) runFigures(r *http.Request) ([]figure.Picture, error) {
	run, _, err := s.run(r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	return curvesAsked(r, []judge.Run{run}), nil
}
