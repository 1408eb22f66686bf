package cli

import (
	"errors"
	"os"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/question"
	"collapse.example/collapse/internal/recipe"
	trainer "collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/train"
)

type studyCmd struct {
	Init    studyInitCmd    `cmd:"" help:"Write a study file for your own trainer, and say what to add to the script."`
	Run     studyRunCmd     `cmd:"" help:"Compute the runs of a study that the lab lacks."`
	Status  studyStatusCmd  `cmd:"" help:"Progress of a study, which workers wait and why, and messages set aside."`
	Resume  studyResumeCmd  `cmd:"" help:"Continue a study of the lab, even a cancelled one."`
	Cancel  studyCancelCmd  `cmd:"" help:"Stop a study, wherever it is computed. Finished work stays."`
	Retry   studyRetryCmd   `cmd:"" help:"Mark the failed runs of a study to be tried again, when it is computed again."`
	List    studyListCmd    `cmd:"" help:"The studies of the lab."`
	Rm      studyRmCmd      `cmd:"" help:"Forget a study. Its runs stay; collapse runs rm deletes them."`
	Rename  studyRenameCmd  `cmd:"" help:"Give a study another name."`
	Tag     studyTagCmd     `cmd:"" help:"Give a study tags, by which study list finds it."`
	Archive studyArchiveCmd `cmd:"" help:"Leave studies out of lists, or bring them back."`
	Judge   studyJudgeCmd   `cmd:"" help:"Verdicts on the claims of a study's file, by its finished runs."`
	Measure studyMeasureCmd `cmd:"" help:"Add measures to finished runs of a study without training."`
	Report  studyReportCmd  `cmd:"" help:"A study's page."`
	Export  studyExportCmd  `cmd:"" help:"A study as one tidy table, a line per run, epoch and measure, or as event files of TensorBoard."`
}

type studyRunCmd struct {
	Study  string   `arg:"" complete:"recipes,studies" help:"A study's TOML file, a recipe (see collapse reproduce --list), or the name of a study of the lab." placeholder:"FILE|ID|NAME"`
	Scale  string   `enum:"quick,standard,paper" default:"quick" help:"Scale: of a recipe; quick takes minutes on two cores, standard decides most claims on them, paper uses the paper's own sizes." placeholder:"NAME"`
	Set    []string `complete:"settings" help:"Override a setting: of all runs, or a list of the grid, as in --set data.noise=[0,0.2], or [[60,120],[80]] for a setting that takes lists. May be repeated." placeholder:"SECTION.KEY=VALUE" sep:"none"`
	Seeds  positive `help:"Number of seeds: 1 to N; default: those of the file or recipe." placeholder:"N"`
	DryRun bool     `help:"Say what would be computed and what it would take, and stop."`
	whereFlags
}

func (c *studyRunCmd) effects() []effect {
	return append([]effect{
		{"scale", recipe.Trains(c.Study), "goes with a recipe that trains networks; a study file sets its own sizes"},
		{"set seeds dry-run", recipe.Trains(c.Study) || isFile(c.Study), "needs a study file or a recipe; the runs of a study in the lab are fixed"},
		{dryRunHas, !c.DryRun, "is about computing, and --dry-run computes nothing"},
	}, c.whereFlags.effects()...)
}

func (c *studyRunCmd) Run(a *app) error {
	if recipe.Trains(c.Study) {
		return (&reproduceCmd{ID: c.Study, Scale: c.Scale, Set: c.Set, Seeds: c.Seeds, DryRun: c.DryRun, whereFlags: c.whereFlags}).Run(a)
	}
	if !isFile(c.Study) {
		return (&studyResumeCmd{Names: []string{c.Study}, whereFlags: c.whereFlags}).Run(a)
	}
	f, err := study.ReadFile(c.Study, c.Set, int(c.Seeds))
	if err != nil {
		return unnamed(err)
	}
	questions, err := askedOf(f.Name, f.Source)
	if err != nil {
		return err
	}
	o, err := c.options(a)
	if err != nil {
		return err
	}
	if err := f.SeedGivenTwice(); err != nil {
		return usageError{err}
	}
	if f.Trainer != nil { // the user named the file that holds this command
		o.Scripts, a.again = f.Trainer.Folder, true
		if !c.DryRun {
			keepCode(a, f.Trainer)
		}
		if over := f.Trainer.Overlooked; len(over) > 0 {
			a.notef("the code imports %s, which [trainer] code does not name: a change of it makes no new runs\n", format.Few(over, shown))
		}
		if named := f.FilesInSettings(); len(named) > 0 {
			a.notef("%s: settings that name files; a change of these makes no new runs unless [trainer] data names them\n", format.Few(named, shown))
		}
	}
	if unknown, known := f.UnknownFlags(); len(unknown) > 0 {
		near := ""
		if name := spelling.Nearest(unknown[0], known); name != "" {
			near = "; did you mean --" + name + "?"
		}
		a.notef("the code names no flag --%s, which it is given for a setting of the file%s\n", strings.Join(unknown, " or --"), near)
	}
	noteDropped(a, f.Name, questions)
	compute := c.grid
	if f.Search != nil {
		compute = c.search
	}
	if err = compute(a, f, o); err == nil && len(questions.Claims) > 0 && !c.DryRun {
		a.notef("verdicts on its %s: %s\n", format.Count(len(questions.Claims), "claim"), a.next("study judge "+format.ShellWord(f.Name)))
	}
	return err
}

// noteDropped says how many claims the lab has from a former file of the study that this file lacks.
func noteDropped(a *app, name string, now question.Set) {
	lab, err := a.reader()
	if err != nil { // no lab yet, or what is wrong is said where it is needed
		return
	}
	former, err := lab.Study(name)
	if err != nil {
		return
	}
	asked, err := question.Parse(former.Source)
	if err != nil { // of another version: nobody can judge those
		return
	}
	stay := map[string]bool{}
	for _, claim := range now.Claims {
		stay[claim.ID] = true
	}
	gone := slices.DeleteFunc(asked.Claims, func(claim judge.Statement) bool { return stay[claim.ID] })
	if n := len(gone); n > 0 {
		a.notef("%s of the former file of %s %s not in this one\n", format.Count(n, "claim"), name, map[bool]string{true: "is", false: "are"}[n == 1])
	}
}

// keepCode copies the code of a study, so that runs which wait are computed with it, whatever is edited meanwhile.
func keepCode(a *app, t *study.Trainer) {
	if err := t.Keep(); err != nil {
		a.notef("the code is not copied, so that a change of it while the study runs fails the runs that wait: %v\n", err)
	}
}

// grid computes the runs of a study file without a search.
func (c *studyRunCmd) grid(a *app, f *study.File, o coordinator.Options) error {
	configs, err := checkedConfigs(f)
	if err != nil {
		return err
	}
	items, err := f.Items(nil)
	if wrong := (*train.ConfigError)(nil); errors.As(err, &wrong) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if c.DryRun && f.Trainer != nil {
		return dryRunOfScript(a, f, items)
	}
	if c.DryRun {
		return dryRun(a, f.Name, configs, items, nil, o)
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer c.beside(a)()
	if err := study.AsItIs(lab.Reader, items); err != nil {
		return err
	}
	longer, err := study.GoOn(lab.Reader, items)
	if err != nil {
		return err
	}
	if err := saveStudy(a, lab, f, items); err != nil {
		return err
	}
	noteLonger(a, longer)
	return executeBeside(a, lab, nil, []string{f.Name}, o)
}

// saveStudy gives a study the runs of its file, and says which it had before and has no longer.
func saveStudy(a *app, lab *store.Lab, f *study.File, items []study.Item) error {
	before, err := lab.StudyRuns(f.Name)
	if err != nil {
		return err
	}
	if _, err := study.Save(lab, f.Name, f.Title, f.Source, items); err != nil {
		return err
	}
	if words := study.Displaced(f.Name, before, items, false); words != "" {
		a.notef("%s\n", words)
		if f.Nameless {
			a.notef("if that was another study, give this one a name of its own: [study] name = …\n")
		}
	}
	return noteLoaded(a, lab.Reader, f)
}

// looksAtLoaded is of how many finished runs it is asked whether what they have loaded has changed: runs of a study load the same.
const looksAtLoaded = 3

// noteLoaded says which modules that nothing names have changed since finished runs of a study's script loaded them.
func noteLoaded(a *app, lab *store.Reader, f *study.File) error {
	if f.Trainer == nil {
		return nil
	}
	done, err := lab.StudyRuns(f.Name, store.Done)
	if err != nil {
		return err
	}
	done = slices.DeleteFunc(done, func(r store.StudyRun) bool { return !f.Trainer.IsOf(r) })
	for _, r := range done[max(0, len(done)-looksAtLoaded):] {
		if changed := trainer.ChangedSince(lab.RunDir(r.Hash), f.Trainer.Folder); len(changed) > 0 {
			a.notef("%s: changed since finished runs loaded it; they stay as they are. [trainer] code, or data for what lies elsewhere, makes a change count\n", format.Few(changed, 3))
			return nil
		}
	}
	return nil
}

// noteLonger says which runs go on from finished ones, and which cannot unless the user says so.
func noteLonger(a *app, l study.Longer) {
	if l.Runs > 0 {
		a.notef("%s after epoch %d: the lab has finished runs that differ in nothing but their length\n", format.Count(l.Runs, "run")+map[bool]string{true: " goes on", false: " go on"}[l.Runs == 1], l.After)
	}
	if l.Rows > 0 {
		a.notef("%s at the beginning: of the finished ones that are shorter the lab has the numbers alone\n", starting(l.Rows))
	}
	if l.Bare > 0 {
		a.notef("%s at the beginning: the script has left no checkpoint of the finished ones that are shorter\n", starting(l.Bare))
	}
	if l.Anew > 0 {
		a.notef("%s at the beginning, though the lab has finished ones of %d epochs: the script may have made its schedule for those. To go on from them with that schedule, interrupt this and write horizon = %d under [trainer]\n",
			starting(l.Anew), l.Before, l.Before)
	}
}

func starting(n int) string {
	return format.Count(n, "run") + map[bool]string{true: " starts", false: " start"}[n == 1]
}

// checkedConfigs are the combinations of a file's grid, checked for settings without effect; empty for a script, which alone knows its
// settings.
func checkedConfigs(f *study.File) ([]train.Config, error) {
	if f.Trainer != nil {
		return nil, nil
	}
	configs, _, err := f.Configs()
	if err == nil {
		err = f.Idle(configs)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return configs, nil
}

// isFile distinguishes a file from the name of a study: a name has no '/' and does not end in .toml.
func isFile(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir() || strings.HasSuffix(arg, ".toml") || strings.ContainsRune(arg, os.PathSeparator)
}
