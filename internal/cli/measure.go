package cli

import (
	"context"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

type measureCmd struct {
	Files []string `arg:"" optional:"" help:"Files with features, labels and optionally a classifier under their usual names: npz, npy, safetensors, PyTorch pt, pickle, Parquet, Arrow, HDF5, csv, json, mat, also in gzip; or one folder that the Python package collapse wrote, or several with keep=\"states\". - reads npy records from standard input." placeholder:"FILE"`

	Features []string `help:"File or quoted pattern of shards with the features (N×d)." placeholder:"GLOB" sep:"none" group:"Single arrays:"`
	Labels   []string `help:"Files with the labels (N)." placeholder:"GLOB" sep:"none" group:"Single arrays:"`
	Weights  []string `help:"Files with the classifier's weight (K×d)." placeholder:"FILE" sep:"none" group:"Single arrays:"`
	Bias     []string `help:"Files with the classifier's bias (K)." placeholder:"FILE" sep:"none" group:"Single arrays:"`

	FeaturesKey       string `help:"Name of the features in their file; default: any of the usual names, see docs/measuring.md." placeholder:"NAME" group:"Names within files:"`
	LabelsKey         string `help:"Name of the labels in their file." placeholder:"NAME" group:"Names within files:"`
	WeightsKey        string `help:"Name of the classifier's weight in its file." placeholder:"NAME" group:"Names within files:"`
	BiasKey           string `help:"Name of the classifier's bias in its file." placeholder:"NAME" group:"Names within files:"`
	Layers            string `help:"Pattern of array names, or of a folder's layers; each becomes a column, e.g. 'layer*'." placeholder:"PATTERN" group:"Names within files:"`
	TransposeWeights  bool   `help:"The classifier's weight is stored d×K." group:"Names within files:"`
	TransposeFeatures bool   `help:"All features are stored d×N." group:"Names within files:"`
	Classes           int    `help:"Number of classes K: needed if some have no sample and there is no classifier; default: as many as the labels name." placeholder:"K" group:"Names within files:"`

	TestFeatures []string `help:"Test features: dilation, test accuracy, centres of memorization." placeholder:"GLOB" sep:"none" group:"More samples:"`
	TestLabels   []string `help:"Test labels." placeholder:"GLOB" sep:"none" group:"More samples:"`
	TrueLabels   []string `help:"Labels before noise: memorization." placeholder:"GLOB" sep:"none" group:"More samples:"`
	Corrupted    []string `help:"Mask (0/1) of samples whose label was redrawn." placeholder:"GLOB" sep:"none" group:"More samples:"`
	OOD          []string `name:"ood" help:"Out-of-distribution features: NC5." placeholder:"GLOB" sep:"none" group:"More samples:"`

	Measures      []string `complete:"measures" help:"What is measured: default, all, or keys of docs/measures.md, separated by commas." default:"default" placeholder:"LIST" group:"What is measured:"`
	Null          int      `help:"How often labels are shuffled to see what measures come to by chance; 0: never." default:"9" placeholder:"N" group:"What is measured:"`
	Rcond         float64  `help:"Count eigenvalues of Σ_B below this share of the largest as zero, as well as those that rounding of the features may have caused; default: only the latter." placeholder:"SHARE" group:"What is measured:"`
	Imbalance     string   `help:"What has equal weight: every sample or every class." enum:"sample,class" default:"sample" placeholder:"sample|class" group:"What is measured:"`
	MinCount      int      `help:"Leave out classes with fewer training samples." default:"1" placeholder:"N" group:"What is measured:"`
	ClassNames    []string `help:"The labels' words in the order of the classes, which is that of the classifier's rows: with a classifier, labels that are words need it." placeholder:"NAME,…" group:"Names within files:"`
	IgnoreLabel   []string `help:"Leave out samples of this label, e.g. --ignore-label=-100; may be given again." sep:"none" placeholder:"LABEL" group:"What is measured:"`
	DropNonfinite bool     `help:"Leave out rows with NaN or infinity instead of refusing them." group:"What is measured:"`

	StateOut string `help:"Write the state of this shard, stream or merge to FILE.ncs, - for standard output." type:"output" placeholder:"FILE" group:"Beyond one machine:"`
	Merge    bool   `help:"The files are states: combine them." group:"Beyond one machine:"`
	Means    string `help:"State with the merged first passes, whose class means the second pass uses." type:"path" placeholder:"FILE" group:"Beyond one machine:"`

	Requests bool `hidden:"" help:"Answer requests on standard input, for the program that started this one: measure_requests.go."`

	MaxMemory string `help:"Memory that the unpacked and decoded files may take, such as 8GB; default: 32 times their size, at least 537 MB." placeholder:"SIZE" group:"Beyond one machine:"`

	ByEpoch bool   `help:"The files are captures of epochs of one model, named by number (epoch-3): each becomes a column." group:"Epochs of a model:"`
	Record  string `help:"Store the epochs in the lab as a run of this name, which replaces an older one: serve, report and export show it." placeholder:"NAME" group:"Epochs of a model:"`

	All  bool   `help:"Print every measure with its reading, not only NC1 to NC4." group:"Output:"`
	CSV  string `name:"csv" help:"Also write tidy rows to FILE; - is standard output, which moves the readable table to standard error." type:"output" placeholder:"FILE" group:"Output:"`
	HTML string `name:"html" help:"Also write a self-contained page to FILE, - for standard output." type:"output" placeholder:"FILE" group:"Output:"`

	out measureOut
	ctx context.Context // stops the measurement
}

// measureOut are the requested output files; nil if not requested.
type measureOut struct{ csv, html, state *outfile.File }

func (c *measureCmd) Run(a *app) error {
	computed := a.onlyComputes()
	if c.Requests {
		return c.answerRequests(a, os.Stdin)
	}
	if err := c.check(); err != nil {
		return err
	}
	defer c.boundMemory()()
	c.ctx = a.ctx
	if err := c.outputs(a); err != nil {
		return err
	}
	team := parallel.NewTeam(a.flags.Threads)
	defer team.Close()
	if c.Means != "" && !c.Merge {
		return c.secondPass(a, team)
	}
	found, err := c.find(team)
	if err != nil {
		return unnamed(err)
	}
	computed()
	if err := c.record(a, found); err != nil {
		return err
	}
	found.Command, found.Generated = "collapse "+strings.Join(os.Args[1:], " "), time.Now()
	if err := c.write(found); err != nil {
		return err
	}
	var printing error
	if err := a.emit(found, func() { printing = c.print(a, found) }); err != nil {
		return err
	}
	return printing
}

// print prints the short report or the whole one.
func (c *measureCmd) print(a *app, found *measurement.Result) error {
	if c.All {
		return found.WriteText(a.stdout, a.screen)
	}
	return found.WriteShort(a.stdout, a.screen, c.next(a, found.MainColumn().Measures.Len()))
}

// next says where the page is and what to type next; "" for -q.
func (c *measureCmd) next(a *app, measures int) string {
	all := "--all shows all " + format.Count(measures, "measure")
	switch {
	case a.flags.Quiet:
		return ""
	case c.HTML == "" || c.HTML == "-":
		return "next: " + all + ", --html page.html draws them"
	}
	return "page: " + c.HTML + "; " + all
}

// outputs checks the files to be written before minutes of work: against the disk and against the inputs.
func (c *measureCmd) outputs(a *app) (err error) {
	o := a.outputs()
	o.Reads(append(featurefiles.Paths(c.request()), c.Means)...)
	if slices.Contains(c.Files, "-") {
		o.ReadsOpen("standard input", os.Stdin)
	}
	for _, f := range []struct {
		flag, path string
		to         **outfile.File
	}{{"--state-out", c.StateOut, &c.out.state}, {"--csv", c.CSV, &c.out.csv}, {"--html", c.HTML, &c.out.html}} {
		if *f.to, err = a.file(o, f.flag, f.path); err != nil {
			return err
		}
	}
	return nil
}

// Small files: measuring them needs less than smallMemory, and the collector keeps garbage from adding to that. Larger files are read
// at the collector's own pace, which is faster.
const (
	smallInput  = 64 << 20
	smallMemory = 768 << 20
)

// boundMemory bounds the memory of measuring small files, unless GOMEMLIMIT does; the returned function removes the bound.
func (c *measureCmd) boundMemory() func() {
	bytes := int64(0)
	for _, patterns := range [][]string{c.Files, c.Features, c.TestFeatures, c.OOD} {
		for _, p := range patterns {
			info, err := os.Stat(p)
			if err != nil || !info.Mode().IsRegular() { // a stream, a pattern, a folder: of unknown size
				return func() {}
			}
			bytes += info.Size()
		}
	}
	before := debug.SetMemoryLimit(-1)
	if before == math.MaxInt64 && bytes <= smallInput {
		debug.SetMemoryLimit(smallMemory)
	}
	return func() { debug.SetMemoryLimit(before) }
}

// ofStates reports whether the named folders are captures of states, which are merged unasked.
func (c *measureCmd) ofStates() bool {
	return c.Means == "" && !slices.Contains(c.Files, "-") && featurefiles.HoldStates(c.Files)
}

// effects says which flags do nothing for states, streams and second passes.
func (c *measureCmd) effects() []effect {
	stream, second := slices.Contains(c.Files, "-"), c.Means != "" && !c.Merge
	const aboutSamples = "features labels features-key labels-key transpose-features classes drop-nonfinite test-labels"
	return []effect{
		{"but requests", !c.Requests, "belongs into the requests on standard input"},
		{"record", c.ByEpoch, "goes with --by-epoch, which says which epoch each file is of"},
		{aboutSamples + " layers state-out merge means", !c.ByEpoch, "is about single files, and --by-epoch reads captures of the Python package, which know their streams"},
		{aboutSamples, !c.Merge, "is about samples, and --merge reads states, which hold sums"},
		{aboutSamples, c.Merge || !c.ofStates(), "is about samples, and this capture holds states, which are sums"},
		{"features labels features-key labels-key transpose-features test-labels", !stream, "names arrays in files, and - reads features and labels from standard input"},
		{"all null csv html", !second, "is about results, and a second pass only writes a state: give it when merging the states"},
	}
}

// check finds calls that contradict themselves.
func (c *measureCmd) check() error {
	if len(c.Files) > 0 && len(c.Features) > 0 {
		return usagef("--features %s and %d more files: a pattern must be quoted, or the shell expands it (--features '%s')", c.Features[0], len(c.Files), c.Features[0])
	}
	if c.MinCount < 1 {
		return usagef("--min-count %d: want at least 1, the number of samples a class needs", c.MinCount)
	}
	if _, err := c.budget(); err != nil {
		return err
	}
	stream := slices.Contains(c.Files, "-")
	switch {
	case !(c.Rcond >= 0 && c.Rcond < 1):
		return usagef("--rcond %g: a share of the largest eigenvalue, from 0 (not chosen) to below 1", c.Rcond)
	case c.Null < 0 || c.Null > 1000:
		return usagef("--null %d: a number of shuffles, 0 to 1000", c.Null)
	case stream && (len(c.Files) > 1 || c.Merge || c.Means != ""):
		return usagef("- reads features and labels from standard input: leave out the other files, --merge and --means")
	case c.Means != "" && !c.Merge && c.StateOut == "":
		return usagef("--means %s: a second pass writes a state; give --state-out FILE.ncs, then --merge all of them", c.Means)
	case (c.Merge || stream || c.StateOut != "" || c.ofStates()) && (c.TestFeatures != nil || c.OOD != nil || c.TrueLabels != nil || c.Corrupted != nil):
		return usagef("states and streams hold train features only: leave out --test-features, --ood, --true-labels and --corrupted")
	case (stream || c.StateOut != "" || c.Merge && !c.ofStates()) && c.Layers != "":
		return usagef("a state or a stream holds one layer: leave out --layers")
	case len(c.Files) == 0 && len(c.Features) == 0:
		return usagef("nothing to measure: name a FILE, or --features FILE --labels FILE, or - for standard input")
	}
	return nil
}

// find measures what the flags ask for: files, a stream, states.
func (c *measureCmd) find(team *parallel.Team) (*measurement.Result, error) {
	switch {
	case c.ByEpoch:
		return c.epochs(team)
	case c.Merge || c.ofStates():
		return c.merge(team)
	case slices.Equal(c.Files, []string{"-"}):
		req := c.request()
		req.Files = nil
		one, err := c.stream(req, team)
		if err != nil {
			return nil, err
		}
		return c.onePass(oneColumn(one), team)
	}
	set, err := featurefiles.Open(c.request())
	if err != nil {
		return nil, err
	}
	defer set.Close()
	if c.StateOut == "" {
		return measurement.Of(set, c.options(team), c.HTML != "")
	}
	one, err := set.OnePass(len(set.Columns)-1, c.options(team))
	if err != nil {
		return nil, err
	}
	return c.onePass(oneColumn(one), team)
}

// stream reads standard input; Ctrl-C ends it, even while it waits for input.
func (c *measureCmd) stream(req featurefiles.Request, team *parallel.Team) (*featurefiles.OnePass, error) {
	in, read := os.Stdin, make(chan struct{})
	var found *featurefiles.OnePass
	var failed error
	go func() {
		defer close(read)
		found, failed = featurefiles.Stream(in, req, c.options(team))
	}()
	select {
	case <-read:
		return found, failed
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}

func (c *measureCmd) request() featurefiles.Request {
	req := featurefiles.Request{Context: c.ctx, Files: c.Files, Layers: c.Layers, Classes: c.Classes, ClassNames: c.ClassNames, IgnoreLabels: c.IgnoreLabel, TransposeWeights: c.TransposeWeights, TransposeFeatures: c.TransposeFeatures}
	req.Budget, _ = c.budget() // check has refused what is not a size
	for r, from := range map[featurefiles.Role][]string{
		featurefiles.Features: c.Features, featurefiles.Labels: c.Labels, featurefiles.Weights: c.Weights, featurefiles.Bias: c.Bias,
		featurefiles.TestFeatures: c.TestFeatures, featurefiles.TestLabels: c.TestLabels, featurefiles.TrueLabels: c.TrueLabels,
		featurefiles.Corrupted: c.Corrupted, featurefiles.OOD: c.OOD,
	} {
		req.From[r] = from
	}
	for r, key := range map[featurefiles.Role]string{
		featurefiles.Features: c.FeaturesKey, featurefiles.Labels: c.LabelsKey, featurefiles.Weights: c.WeightsKey, featurefiles.Bias: c.BiasKey,
	} {
		req.Keys[r] = key
	}
	return req
}

// budget is what --max-memory allows, or the default for files and streams.
func (c *measureCmd) budget() (*arrayfile.Budget, error) {
	stream := slices.Contains(c.Files, "-")
	b := arrayfile.NewFileBudget()
	switch {
	case c.MaxMemory != "":
		n, ok := parseBytes(c.MaxMemory)
		if !ok {
			return nil, usagef("--max-memory %q: want a size such as 800MB, 8GB or 16GiB", c.MaxMemory)
		}
		b = arrayfile.NewBudget(n)
	case stream:
		b = arrayfile.NewBudget(featurefiles.StreamMemory)
	}
	b.Advice = "if you trust the input, allow more, such as --max-memory 16GB"
	return b, nil
}

func (c *measureCmd) options(team *parallel.Team) measure.Options {
	opt := measure.Options{Context: c.ctx, Team: team, Measures: c.Measures, DropNonFinite: c.DropNonfinite, MinCount: c.MinCount, KeepMargins: true, Uncertainty: true, Null: c.Null, RankCutoff: c.Rcond}
	if c.Imbalance == "class" {
		opt.Imbalance = measure.PerClass
	}
	opt.KeepMeans = c.HTML != ""
	return opt
}

// write writes the requested files.
func (c *measureCmd) write(found *measurement.Result) error {
	if err := c.out.csv.Write(found.WriteCSV); err != nil {
		return err
	}
	return c.out.html.Write(func(w io.Writer) error { return page.WritePage(found, w) })
}
