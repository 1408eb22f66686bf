package study

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/train"
)

// Trainer is the table [trainer] of a study's file: a script computes the runs, with settings of its own.
//
//	[trainer]
//	command = ["python3", "train.py"]       # started in the folder of the file
//	code    = ["train.py", "models/*.py"]   # what computes the runs: part of their identity; default: files that the command names and what they import
//	same_as = { "train.py" = ["1b2c…", "3fa9…"] } # this version of the file makes the same runs as that, by SHA-256; default: none
//	data    = ["/data/mnist/*"]             # files whose content is part of the identity, too; default: none
//	epochs  = 100
//	horizon = 100                           # what schedules are made for; default: epochs
//	args    = "flags"                       # settings also as --key value, --key where true; "flags-no": --no-key where false; default: in run.json alone
//	silence = "30m"                         # a run fails that reports nothing for so long; default: never
//	save_features = "all"                   # captures that stay, to be measured later; default: the newest; or "none"
type Trainer struct {
	Folder string      // the file's folder, where scripts start
	spec   script.Spec // of a run without settings
	fixed  bool        // the horizon does not follow run.epochs
	// Overlooked are Python files beside the code that it imports and that [trainer] code does not name.
	Overlooked []string
}

// UnknownFlags are settings of a script's file that the lab would pass as flags, and that no file of its code names; empty if the code names no
// flag at all. known are those that it names.
func (f *File) UnknownFlags() (unknown, known []string) {
	if f.Trainer == nil || f.Trainer.spec.Args == "" {
		return nil, nil
	}
	if known = f.Trainer.spec.Flags(f.Trainer.Folder); len(known) == 0 {
		return nil, nil
	}
	var keys []string
	for _, setting := range f.base {
		key, _, _ := strings.Cut(setting, "=")
		keys = append(keys, key)
	}
	for _, a := range f.axes {
		keys = append(keys, a.key)
	}
	if f.Search != nil {
		for _, p := range f.Search.Space {
			keys = append(keys, p.Name)
		}
	}
	for _, key := range keys {
		if key == script.EpochsKey || key == script.SeedKey { // the lab's own: --epochs and --seed
			continue
		}
		named := func(flag string) bool {
			return strings.HasPrefix(flag, key) || strings.HasPrefix(strings.TrimPrefix(flag, "no-"), key)
		} // argparse takes beginnings, too
		if !slices.ContainsFunc(known, named) && !slices.Contains(unknown, key) {
			unknown = append(unknown, key)
		}
	}
	return unknown, known
}

// FilesInSettings are settings of a script's file that name files of its folder which are part neither of its code nor of its data, as
// "config = d.yaml".
func (f *File) FilesInSettings() (found []string) {
	if f.Trainer == nil {
		return nil
	}
	last := map[string]string{}
	for _, s := range f.base {
		key, text, _ := strings.Cut(s, "=")
		last[key] = text
	}
	var settings [][2]string
	for _, key := range slices.Sorted(maps.Keys(last)) {
		settings = append(settings, [2]string{key, last[key]})
	}
	for _, a := range f.axes {
		for _, v := range a.values {
			settings = append(settings, [2]string{a.key, v})
		}
	}
	named := f.Trainer.spec.FilesOfData(f.Trainer.Folder)
	for _, s := range settings {
		key, text := s[0], s[1]
		values, _, err := train.Axis("", text)
		if err != nil || len(values) != 1 {
			continue
		}
		name, _ := values[0].(string)
		if name != "" && filepath.IsLocal(name) && f.Trainer.spec.Overlooks(f.Trainer.Folder, name, named) {
			found = append(found, key+" = "+name)
		}
	}
	return found
}

// trainerTable is Trainer as TOML decodes it. The digests are in the source of a search in a lab, where the files may not be available.
type trainerTable struct {
	Command, Code, Data []string
	Epochs, Horizon     int
	SameAs              map[string][]string `toml:"same_as"`
	Args, Silence       string
	SaveFeatures        string `toml:"save_features"`
	Digests             *trainerDigests
}

type trainerDigests struct {
	Code map[string]string
	Data []string
}

// readTrainer makes a script compute the file's runs. path is the path of the file.
func (f *File) readTrainer(path string, t *trainerTable, bad *FileError) {
	if t == nil {
		return
	}
	s := script.Spec{Command: t.Command, Epochs: t.Epochs, Horizon: t.Epochs, Args: t.Args, SaveFeatures: t.SaveFeatures}
	if len(t.Command) == 0 || t.Command[0] == "" {
		bad.add(`[trainer] command is missing; wanted the program and its arguments, such as command = ["python3", "train.py"]`)
		f.subject = scripts{&Trainer{}} // whose settings are its own
		return
	}
	if t.Epochs < 1 || t.Epochs > script.MostEpochs {
		bad.add("[trainer] epochs is %d; wanted 1 to %d", t.Epochs, script.MostEpochs)
		s.Epochs, s.Horizon = 1, 1 // so that the error is reported once
	}
	if t.Args != "" && t.Args != script.Flags && t.Args != script.FlagsNo {
		bad.add("[trainer] args is %q; wanted %q, %q (a setting that is false as --no-key), or leave it out", t.Args, script.Flags, script.FlagsNo)
	}
	switch s.SaveFeatures {
	case "last":
		s.SaveFeatures = ""
	case "", script.SaveAll, script.SaveNone:
	default:
		bad.add("[trainer] save_features is %q; wanted \"last\", %q or %q", t.SaveFeatures, script.SaveAll, script.SaveNone)
	}
	if t.Silence != "" {
		var err error
		if s.Silence, err = time.ParseDuration(t.Silence); err != nil || s.Silence <= 0 {
			bad.add("[trainer] silence is %q; wanted a time such as 30m", t.Silence)
		}
	}
	folder := filepath.Dir(path)
	f.Trainer = &Trainer{Folder: folder, fixed: t.Horizon != 0}
	if f.Trainer.fixed {
		s.Horizon = t.Horizon
	}
	if s.Horizon < 1 || s.Horizon > script.MostEpochs {
		bad.add("[trainer] horizon is %d; wanted 1 to %d, the length that schedules are made for", s.Horizon, script.MostEpochs)
		s.Horizon = s.Epochs
	}
	s.Inputs = t.Data
	if t.Digests != nil {
		s.Code, s.Data = t.Digests.Code, t.Digests.Data
	} else {
		f.Trainer.Overlooked = digestFiles(&s, folder, t, bad)
	}
	same, err := script.Same(s.Code, t.SameAs)
	if err != nil {
		bad.add("[trainer] %v", err)
	}
	s.SameAs = same
	f.Trainer.spec = s
	f.subject = scripts{f.Trainer}
}

// digestFiles reads the code, and the data if any are named. Without a list of the code it is what the command names, and what Python files of
// it import; with one, imports that it lacks are returned.
func digestFiles(s *script.Spec, folder string, t *trainerTable, bad *FileError) (overlooked []string) {
	code := t.Code
	if len(code) == 0 {
		code = slices.DeleteFunc(slices.Clone(t.Command), func(word string) bool { return !isFileIn(folder, word) })
		code = append(code, moduleOf(folder, t.Command)...)
	}
	if len(code) == 0 {
		bad.add(`[trainer] code is missing, and no word of the command is a file in %s%s; wanted the files that compute the runs, such as code = ["train.py", "models/*.py"]`, folder, nearFile(folder, t.Command))
		return nil
	}
	var err error
	if s.Code, err = script.DigestCode(folder, code); err == nil {
		named := slices.Sorted(maps.Keys(s.Code))
		for _, module := range moduleOf(folder, t.Command) {
			if s.Code[module] == "" {
				named = append(named, module)
			}
		}
		if overlooked, err = script.Imports(folder, named, len(moduleOf(folder, t.Command)) > 0); err == nil {
			overlooked = append(overlooked, slices.DeleteFunc(named, func(name string) bool { return s.Code[name] != "" })...)
		}
	}
	if err == nil && len(t.Code) == 0 {
		err = script.DigestFiles(folder, overlooked, s.Code)
		overlooked = nil
	}
	if err != nil {
		bad.add("[trainer] code: %v", err)
	}
	if s.Data, err = script.DigestData(folder, t.Data); err != nil {
		bad.add("[trainer] data: %v", err)
	}
	return overlooked
}

func isFileIn(folder, word string) bool {
	info, err := os.Stat(filepath.Join(folder, word))
	return filepath.IsLocal(word) && err == nil && info.Mode().IsRegular()
}

// moduleOf are the files that a command runs as a module, python -m pack.train: none, the module, or the __main__ of a package, with the __init__ of
// the packages around it.
func moduleOf(folder string, command []string) (files []string) {
	at := slices.Index(command, "-m")
	if at < 0 || at+1 == len(command) {
		return nil
	}
	names, place := strings.Split(command[at+1], "."), ""
	for i, name := range names {
		place = path.Join(place, name)
		candidates := []string{place + "/__init__.py"}
		if i == len(names)-1 {
			candidates = append(candidates, place+".py", place+"/__main__.py")
		}
		for _, c := range candidates {
			if isFileIn(folder, filepath.FromSlash(c)) {
				files = append(files, c)
			}
		}
	}
	return files
}

// nearFile asks whether a word of a command means a file that is there.
func nearFile(folder string, command []string) string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, word := range command {
		if near := spelling.Suggestion(word, names); near != "" && filepath.Ext(word) != "" {
			return ": " + word + " is not there" + near
		}
	}
	return ""
}

// Keep copies the code, so that the study's runs use it as it is now.
func (t *Trainer) Keep() error { return t.spec.Keep(t.Folder) }

// text writes the table with the digests.
func (t *Trainer) text() string {
	var b strings.Builder
	s := t.spec
	fmt.Fprintf(&b, "\n[trainer]\ncommand = %s\nepochs = %d\nargs = %s\n", train.Literal(s.Command), s.Horizon, train.Literal(s.Args))
	if s.Silence > 0 {
		fmt.Fprintf(&b, "silence = %q\n", s.Silence)
	}
	if s.SaveFeatures != "" {
		fmt.Fprintf(&b, "save_features = %q\n", s.SaveFeatures)
	}
	if len(s.Inputs) > 0 {
		fmt.Fprintf(&b, "data = %s\n", train.Literal(s.Inputs))
	}
	fmt.Fprintf(&b, "\n[trainer.digests]\ndata = %s\n\n[trainer.digests.code]\n", train.Literal(append([]string{}, s.Data...)))
	for _, name := range slices.Sorted(maps.Keys(s.Code)) {
		fmt.Fprintf(&b, "%s = %q\n", train.Literal(name), s.Code[name])
	}
	if len(s.SameAs) > 0 {
		b.WriteString("\n[trainer.same_as]\n")
	}
	for _, name := range slices.Sorted(maps.Keys(s.SameAs)) {
		fmt.Fprintf(&b, "%s = [%q, %q]\n", train.Literal(name), script.ShortDigest(s.Code[name]), s.SameAs[name])
	}
	return b.String()
}
