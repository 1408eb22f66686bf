// Package report turns saved results into pages: one self-contained HTML file per study or run,
// with every figure beside it as SVG, PNG, CSV and JSON. It reads the lab and nothing else, so a
// page can be made again from what was saved, long after the training.
//
// load.go reads runs; study.go is what a page is made of; evidence.go says which runs may speak;
// the claims*.go files judge; the fig*.go files define the pictures and choose.go which to draw; page.go and
// page.html are the page.
package report

import (
	"time"

	"collapse/internal/store"
)

// Study is a set of runs with the words a page needs. Runs is the only field that must be set.
type Study struct {
	ID            string // identifies the study inside the page (data-study); may be ""
	Title         string // "" becomes a title that names the data
	Runs          []Run
	Substitutions []Substitution // every departure from the paper's setting
	Commands      []string       // exact commands that repeat the study
	Notes         []string       // printed as they are
	Generated     time.Time      // when the page was made; zero leaves it out (same runs, same bytes)
	FeatureRuns   []string       // hashes (or prefixes) of runs whose features are drawn; nil chooses
	Compute       *Compute       // what the runs have taken; nil: not said
	RunPages      bool           // write each run's own page, too, and link to it
}

// Substitution is one departure of these runs from the paper's setting.
type Substitution struct {
	What  string // "data set"
	Paper string // what the paper used
	Here  string // what these runs used
	Why   string // "" if plain
}

// Run is one saved run, ready to be drawn.
type Run struct {
	store.Run
	Settings   map[string]string // every configuration key, "loss.kind", with defaults filled in
	Loss       string            // loss.kind
	Noise      float64           // data.noise, η
	Seed       uint64            // run.seed
	Features   *Features         // of the last epoch; nil if not saved
	NoFeatures string            // why Features is nil

	series map[seriesKey][]store.Point
	last   int64
	spent  float64 // core-seconds of its epochs; 0: not noted
}

type seriesKey struct{ split, layer, measure string }

// Features are the last layer's activations that a run saved at its last epoch. N, d and K agree
// among the fields: load.go checks the file before it makes one.
type Features struct {
	D, K           int
	TrainH, TestH  []float64 // N×d, row-major
	Observed, True []int     // training labels, as trained on and before the noise
	Redrawn        []bool    // training samples whose label was drawn anew, also to the same class
	TestTrue       []int
	Weight         []float64 // K×d; nil if not saved
	Bias           []float64 // K; nil: no bias
	TrainN, TestN  int       // samples that the run had; TrainH and TestH may hold the first of them only
}

// Verdict is the answer to a claim.
type Verdict string

// The verdicts, as pages print them.
const (
	Holds      Verdict = "holds"
	Fails      Verdict = "does not hold"
	CannotTell Verdict = "cannot tell"
)

// Claim is one statement of the paper, judged on these runs.
type Claim struct {
	ID         string   `json:"id"`
	Statement  string   `json:"statement"`
	Verdict    Verdict  `json:"verdict"`
	Statistics []string `json:"statistics"` // the numbers it rests on
	Reason     string   `json:"reason"`     // why this verdict, in a sentence
}

// Result is what a page says, for commands that print it.
type Result struct {
	Index      string   `json:"index"` // path of the page
	Headline   string   `json:"headline"`
	Facts      []string `json:"facts"` // the numbers behind the headline, a line for each loss
	Claims     []Claim  `json:"claims"`
	Runs       int      `json:"runs"`
	Failed     int      `json:"failed"`     // runs that ended in an error or did not end
	Degenerate int      `json:"degenerate"` // recipes: one class mean nearly at zero
	Terminal   int      `json:"terminal"`   // runs with train accuracy ≥ 99.9 % on observed labels
	Figures    []string `json:"figures"`    // paths without extension; .svg, .png, .csv and .json exist
	Compute    *Compute `json:"compute,omitempty"`
	RunPages   []string `json:"run_pages,omitempty"` // paths of the pages of single runs, as their table has them
}

// LabReader is the part of a store.Reader that loading needs.
type LabReader interface {
	Find(prefix string) (store.Run, error)
	Values(hash string) ([]store.Value, error)
	RunDir(hash string) string
}
