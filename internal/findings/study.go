package findings

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/question"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
)

// Study is a set of runs with the text of their page. Only Runs must be set.
type Study struct {
	ID            string // identifies the study inside the page (data-study); may be ""
	Title         string // "" becomes a title that names the data
	Runs          []judge.Run
	Asks          question.Set          // what the study asks of its runs
	Substitutions []recipe.Substitution // every departure from the paper's setting
	File          string                // the text of the study's file; "" if it has none
	Commands      []string              // exact commands that repeat the study
	Notes         []string              // printed as they are
	Generated     time.Time             // when the page was made; zero leaves it out (same runs, same bytes)
	FeatureRuns   []string              // hashes (or prefixes) of runs whose features are drawn; nil chooses
	Compute       *Compute              // what the runs have cost; nil: not shown
	RunPages      bool                  // each run has a page of its own, too
	Beside        *Beside               // an earlier result to be read next to the runs; nil: none
}

// Beside is a result of many runs that were computed earlier, elsewhere, which a page shows below its own runs' and apart from them.
type Beside struct {
	Runs    int
	Scale   string
	Command string // computes them anew
	Program string // version that computed them
	On      time.Time
	Claims  []judge.Claim
	Figure  chart.Figure
}

// Says is what the earlier runs say, in a sentence.
func (b *Beside) Says() string { return Tally(b.Claims, fmt.Sprintf("%d earlier runs", b.Runs)) }

// Common is what is found of runs of any kind.
type Common struct {
	Tiles                []format.Tile
	RunTable, Unfinished format.Table // the first column is the start of a run's hash
	Config               []Setting
	TakenTable           format.Table                    // settings that a search found for the runs, and in which trial
	Single               bool                            // it is about one run
	Words                bool                            // it needs the words of collapse explained: not where scripts report only values of their own
	OfRuns               iter.Seq2[StudyFindings, error] // of each run alone, made one by one; nil unless asked for
}

// Setting is a configuration key with its value, or the values of different runs.
type Setting struct{ Name, Value string }

// StudyFindings are what the runs of a study show.
type StudyFindings struct {
	Study
	Common
	Finding, Numbers string
	Facts            []string      // the numbers of each loss
	Claims           []judge.Claim // of the study's file, then of its groups
	Asked            *Asked        // nil: the study asks nothing of its own
	Together         *Together     // of a script's runs that differ in their settings; they have no groups then
	Groups           []Group
	Map              figure.Picture // of the settings, where there are more than have a group; no panels: none
	Further          int            // settings without a group
	Failed           int            // runs that ended in an error or did not end
	Degenerate       int            // runs with one class mean nearly at zero
	Terminal         int            // runs with train accuracy ≥ 99.9 % on observed labels
}

// Asked is what the claims, drawings and tables of a study's own file give.
type Asked struct {
	Claims   []judge.Claim
	Pictures []figure.Picture
	Tables   []judge.Tabled
	Notes    []string // what cannot be drawn or filled
}

// Headline is what the runs show, in a few sentences.
func (f StudyFindings) Headline() string { return strings.TrimSpace(f.Finding + ". " + f.Numbers) }

// Judge says what the runs of a study show.
func (s Study) Judge() (f StudyFindings, err error) {
	gs, unfinished := judge.Experiments(s.Runs)
	f = StudyFindings{Study: s, Failed: len(unfinished), Common: Common{Single: len(s.Runs) == 1, Words: saysCollapse(s.Runs)}}
	if f.Asked, err = s.asked(); err != nil {
		return f, err
	}
	if f.Asked != nil {
		f.Claims = slices.Clone(f.Asked.Claims)
	}
	all := f.judgeGroups(gs)
	f.Finding, f.Numbers, f.Facts = judge.Headline(gs, all)
	if done := len(s.Runs) - f.Failed; f.Failed > 0 && done > 0 {
		f.Numbers = strings.TrimSpace(fmt.Sprintf("%d of %s finished. %s", done, format.Count(len(s.Runs), "run"), f.Numbers))
	}
	if words := collapsed(s.Runs); words != "" {
		f.Numbers = words + ". " + f.Numbers
	}
	if f.Title == "" {
		f.Title = titleOf(gs, allScripts(s.Runs))
	}
	f.Tiles = f.tiles(gs)
	f.RunTable, f.Unfinished, f.Config = runTable(gs, s.Runs), unfinishedTable(s.Runs), commonSettings(s.Runs)
	if f.Single && s.Runs[0].Kind == store.Script {
		if command := script.Command(s.Runs[0].Folder()); command != "" {
			f.Notes = append(slices.Clone(f.Notes), "The script was started as: "+command)
		}
	}
	if s.RunPages {
		f.OfRuns = eachRun(s.Runs, s.Generated)
	}
	return f, nil
}

// judgeGroups judges and draws the experiments of a study, and returns the claims of each: those of a script that differ in their settings
// side by side, others one after the other.
func (f *StudyFindings) judgeGroups(gs []*judge.Experiment) (all [][]judge.Claim) {
	apart := gs
	if judge.OnlyScripts(gs) && !f.Single {
		f.Together, apart = togetherOf(gs, f.Runs), nil
	}
	if f.Further = max(0, len(apart)-MostGroups); f.Further > 0 {
		f.Map = figure.SettingsMap(f.Runs)
	}
	for i, g := range gs {
		var claims []judge.Claim
		switch {
		case i < min(len(apart), MostGroups):
			f.Groups = append(f.Groups, groupOf(g, f.FeatureRuns))
			claims = f.Groups[i].Claims
		case manyNoisy(g):
			claims = g.Claims()
		}
		all = append(all, claims)
		f.Claims = append(f.Claims, claims...)
		f.Degenerate += g.Count(judge.IsDegenerate)
		f.Terminal += g.Count(judge.IsTerminal)
	}
	return all
}

// saysCollapse reports whether runs are of this program, or of scripts with a measure of collapse.
func saysCollapse(runs []judge.Run) bool {
	return slices.ContainsFunc(runs, func(r judge.Run) bool { return r.OfCollapse() })
}

// allScripts reports whether all runs, finished or not, are of scripts.
func allScripts(runs []judge.Run) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r judge.Run) bool { return r.Kind != store.Script })
}

// titleOf names the data of a study without a title.
func titleOf(gs []*judge.Experiment, scripts bool) string {
	switch {
	case judge.OnlyScripts(gs), len(gs) == 0 && scripts:
		return "Runs of a script"
	case len(gs) == 0:
		return "Neural collapse"
	case slices.ContainsFunc(gs, (*judge.Experiment).Noisy):
		return "Memorization and dilation: " + gs[0].Title
	}
	return "Neural collapse: " + gs[0].Title
}

// asked judges the study's own claims, draws its drawings and fills its tables.
func (s Study) asked() (*Asked, error) {
	if !s.Asks.Any() {
		return nil, nil
	}
	found, err := Recipe{ID: "asked", Runs: s.Runs, Claims: s.Asks.Claims, Drawings: s.Asks.Drawings}.Judge()
	out := &Asked{Claims: found.Judged, Pictures: found.Pictures}
	out.Tables, out.Notes = tabulate(s.Asks.Tables, s.Runs, found.Notes)
	return out, err
}

// eachRun are the findings of each run alone, as collapse report shows them.
func eachRun(runs []judge.Run, made time.Time) iter.Seq2[StudyFindings, error] {
	return func(yield func(StudyFindings, error) bool) {
		for i := range runs {
			f, err := Study{ID: "report", Runs: runs[i : i+1], Commands: []string{"collapse report " + hashStart(&runs[i])}, Generated: made}.Judge()
			if err == nil {
				err = judge.ReadError(runs[i : i+1]) // it shows every measure
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// collapsed is the headline of the features of one finished run; "" for several, and where there are no features to measure.
func collapsed(runs []judge.Run) string {
	if len(runs) != 1 || runs[0].Status != store.Done || runs[0].Folder() == "" {
		return ""
	}
	words, err := measurement.HeadlineOfRun(context.Background(), runs[0].Folder(), nil)
	if err != nil {
		return "" // the group says why there are no features
	}
	return words
}

// counted is the tile of a number of things.
func counted(n int, one, many string) format.Tile {
	if n == 1 {
		many = one
	}
	return tile(strconv.Itoa(n), many)
}

func tile(value, name string) format.Tile { return format.Tile{Value: value, Name: name} }

// tiles count the runs, and what they vary.
func (f StudyFindings) tiles(gs []*judge.Experiment) []format.Tile {
	var judged []*judge.JudgedRun
	curves, noises := map[string]bool{}, map[float64]bool{}
	for _, g := range gs {
		judged = append(judged, g.Runs...)
		for _, c := range g.Curves {
			curves[c] = true
		}
		for _, n := range g.Noises {
			noises[n] = true
		}
	}
	done := len(f.Runs) - f.Failed
	out := []format.Tile{counted(done, "finished run", "finished runs")}
	if allScripts(f.Runs) {
		settings := counted(len(gs), "setting", "settings")
		if all := settingsAmong(f.Runs); all > len(gs) {
			settings = tile(fmt.Sprintf("%d of %d", len(gs), all), "settings")
		}
		out = append(out, settings, tile(strconv.Itoa(f.Failed), "failed or unfinished"))
	} else {
		out = append(out, counted(len(curves), "loss", "losses"))
		if slices.ContainsFunc(gs, (*judge.Experiment).Noisy) {
			out = append(out, counted(len(noises), "noise level", "noise levels"))
		}
		out = append(out, counted(len(judge.Seeds(judged)), "seed", "seeds"), tile(fmt.Sprintf("%d of %d", f.Terminal, done), "in the terminal phase"),
			tile(strconv.Itoa(f.Degenerate), "degenerate"), tile(strconv.Itoa(f.Failed), "failed or unfinished"))
	}
	if f.Compute != nil {
		cost := f.Compute.tiles()
		out = append(out, cost[:min(1, len(cost))]...)
	}
	return out
}
