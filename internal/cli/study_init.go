package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/outfile"
)

type studyInitCmd struct {
	Script string `help:"The script that trains." required:"" type:"existingfile" placeholder:"FILE"`
	Out    string `help:"Where to write; default: the script's name with .toml, in its folder. The study file belongs in the folder of the script." type:"path" placeholder:"FILE"`
}

func (studyInitCmd) Help() string {
	return `Writes a study file with a comment for each key, and prints the lines that turn the script into a run of the lab. Flags that the script reads
with argparse become settings. docs/trainers.md says more.`
}

func (c *studyInitCmd) Run(a *app) error {
	text, err := inputfile.Read(c.Script, inputfile.Text)
	if err != nil {
		return err
	}
	top := ""
	if relativeImport.Match(text) {
		top = packageFolder(c.Script)
	}
	out := cmp.Or(c.Out, filepath.Join(cmp.Or(top, filepath.Dir(c.Script)), strings.TrimSuffix(filepath.Base(c.Script), filepath.Ext(c.Script))+".toml"))
	script, err := filepath.Rel(filepath.Dir(out), c.Script)
	if err != nil || !filepath.IsLocal(script) {
		return usagef("--out %s: the code of a study must be in the folder of its file or below; wanted a file in %s", out, filepath.Dir(c.Script))
	}
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("%s exists; name another file with --out, or remove it", out)
	}
	found := flagsOf(string(text))
	if err := outfile.Write(out, []byte(studyText(filepath.ToSlash(script), top != "", found, metricOf(string(text))))); err != nil {
		return err
	}
	lines := linesToAdd(string(text), found.epochs, found.any())
	if filepath.Ext(c.Script) != ".py" {
		lines = linesOfAnyLanguage
	}
	return a.emit(map[string]any{"study": out, "settings": found.found, "lines": lines}, func() {
		if lines == "" {
			a.printf("Wrote %s. %s has all lines of a run of the lab.\n", out, c.Script)
		} else {
			a.printf("Wrote %s. Add to %s, in its places:\n\n", out, c.Script)
			a.print(lines)
		}
		a.printf("\nThen: collapse study run %s\n", format.ShellWord(out))
	})
}

// relativeImport is an import of a module of the script's own package, which works only if it is started as a module.
var relativeImport = regexp.MustCompile(`(?m)^[ \t]*from[ \t]+\.`)

// packageFolder is the folder that holds the package of a script, whose path is absolute: python -m starts it from there.
func packageFolder(script string) string {
	dir := filepath.Dir(script)
	for {
		dir = filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, "__init__.py")); err != nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

var (
	flagNames       = regexp.MustCompile(`^\s*(?:["'][-\w]+["']\s*,?\s*)+`)
	foreignName     = regexp.MustCompile(`^[^()]*?["']--([^"']*[^\x00-\x7f"'][^"']*)["']`)
	longName        = regexp.MustCompile(`["']--([A-Za-z][\w-]*)["']`)
	argparseDefault = regexp.MustCompile(`\bdefault\s*=\s*([^,)\n]+)`)
	argparseChoices = regexp.MustCompile(`\bchoices\s*=\s*[\[(]([^\])]+)[\])]`)
	argparseSwitch  = regexp.MustCompile(`\baction\s*=\s*["']store_true["']`) // false unless it is given
)

var reportedName = regexp.MustCompile(`\.report\([^{\n]*\{\s*["']([A-Za-z0-9_./-]+)["']`)

// metricOf is the first value that a Python script reports, or an example.
func metricOf(script string) string {
	if m := reportedName.FindStringSubmatch(script); m != nil {
		return m[1]
	}
	return "test/loss"
}

// small are words in names of metrics of which a small value is better, and large of which a large one is.
var (
	small = strings.Fields("loss err error mse mae rmse mape smape nll ppl perplexity wer cer fid bpb bpc")
	large = strings.Fields("acc accuracy f1 auc auroc auprc map precision recall iou miou dice bleu rouge r2 reward hits top1 top5 ndcg mrr psnr ssim kappa mcc")
)

// goalOf is the goal that a metric's name tells, or a value that asks.
func goalOf(metric string) string {
	has := func(words []string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(metric), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }), func(part string) bool { return slices.Contains(words, part) })
	}
	switch {
	case has(small) && !has(large):
		return `"min"                      # or "max"`
	case has(large) && !has(small):
		return `"max"                      # or "min"`
	}
	return `"min or max"               # which is better?`
}

// interpreters start scripts by file extension; any other file is a program.
var interpreters = map[string]string{".py": "python3", ".sh": "sh", ".jl": "julia", ".R": "Rscript"}

func studyText(script string, module bool, from flags, metric string) string {
	found := from.found
	command := strconv.Quote("./" + script)
	if program := interpreters[filepath.Ext(script)]; program != "" {
		command = fmt.Sprintf("%q, %q", program, script)
		if module {
			command = fmt.Sprintf("%q, \"-m\", %q", program, strings.ReplaceAll(strings.TrimSuffix(script, ".py"), "/", "."))
		}
	}
	args, base, axis := "# args = \"flags\"                   # every setting also as a flag: --lr 0.1\n", "lr = 0.1\n", `# lr = [0.01, 0.1]`
	if from.any() {
		args, base = "args = \"flags\"                     # every setting also as a flag\n", ""
	}
	if len(found) > 0 {
		args, base = "args = \"flags\"                     # every setting also as a flag: --"+found[0].Key+" "+strings.Trim(found[0].Default, `"`)+"\n", ""
		for _, f := range found {
			base += f.Key + " = " + f.Default + "\n"
		}
		axis = fmt.Sprintf("# %s = [%s]", found[0].Key, found[0].Default)
	}
	for _, name := range from.others {
		base += "# " + name + " =                    # --" + name + " has no plain default in the script\n"
	}
	for _, name := range from.unfit {
		base += "# --" + name + " cannot be given: names of settings have Latin letters\n"
	}
	return fmt.Sprintf(studyTemplate, command, strconv.Quote(script), from.epochs, args, base, axis, strconv.Quote(metric), goalOf(metric), spaceOf(found))
}

const studyTemplate = `# A study of my own trainer. Compute it with: collapse study run THIS-FILE

[study]
# title = "What happens if"
# seeds = 5                         # seeds 1 to 5; a verdict needs five. run.setting("seed", 1), or --seed with args = "flags"

[trainer]
command = [%s]   # started in the folder of this file
# code = [%s]               # every file the runs depend on; default: what the command names, and what Python files of it import
# data = ["data/*"]                 # data files; a change in them makes other runs
epochs = %-26s# of a whole run
%s# silence = "1h"                   # a run that reports nothing for this long has failed

[base]                             # settings that all runs share; you choose the names
%s
[grid]                             # a run for each combination
%s

# Or a search: remove the [grid] and uncomment these lines.
# [search]
# trials = 12
# min_epochs = 1
# metric = %-25s# as the script reports it
# goal = %s
# [search.space]                    # uniform, log_uniform, integer, choice; when: docs/internal/recipes.md
%s`

// scriptLine is a line that makes a Python script a run of the lab.
type scriptLine struct {
	has   *regexp.Regexp // a script that matches has the line
	text  string
	torch bool // only for a script with PyTorch
}

var scriptLines = []scriptLine{
	{regexp.MustCompile(`\bimport [^\n#;]*\bcollapse\b|\bfrom collapse\b`), `import collapse                                             # pip install ./python of collapse, or have it on PYTHONPATH`, false},
	{regexp.MustCompile(`\bcollapse\.run\(`), `run = collapse.run()                                        # does nothing outside a lab`, false},
	{regexp.MustCompile(`\.settings?\b`), `lr = run.setting("lr", 0.1)                                 # or keep argparse, with args = "flags"`, false},
	{regexp.MustCompile(`\.state\b`), `if run.state: ...                                           # load run.state + "/state.pt": resume here`, false},
	{regexp.MustCompile(`\.epochs\(`), `for epoch in run.epochs(%s):`, false},
	{regexp.MustCompile(`\.tap\(`), `    model.eval()
    with torch.no_grad(), run.tap(model, epoch) as tap:     # optional: features, to measure their collapse
        for x, y in loader: model(x); tap.labels(y)`, true},
	{regexp.MustCompile(`\.checkpoint\(`), `    with run.checkpoint(epoch) as folder: ...               # save to folder + "/state.pt"`, false},
	{regexp.MustCompile(`\.report\(`), `    run.report(epoch, {"test/loss": loss})`, false},
	{regexp.MustCompile(`\.done\(`), `run.done()`, false},
}

// linesToAdd are those of scriptLines that a Python script lacks.
func linesToAdd(script, epochs string, settings bool) string {
	lines := ""
	for _, l := range scriptLines {
		if l.has.MatchString(script) || l.torch && !strings.Contains(script, "torch") || settings && l.has.MatchString(".setting") {
			continue
		}
		text := strings.Replace(l.text, "%s", epochs, 1)
		lines += "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
	}
	return lines
}

const linesOfAnyLanguage = `  $COLLAPSE_RUN is a JSON file with settings, epochs, from_epoch and checkpoint (the folder to resume from).
  After each epoch, append a line to $COLLAPSE_EVENTS:
      {"generation": $COLLAPSE_GENERATION, "epoch": 1, "values": {"test/loss": 0.5}}
  Write checkpoints to $COLLAPSE_DIR/ckpt/.tmp and rename them to $COLLAPSE_DIR/ckpt/EPOCH.
  The last line: {"generation": $COLLAPSE_GENERATION, "done": true}
`
