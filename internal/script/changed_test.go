//go:build unix

package script

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// numbered is a script whose numbers follow from two files of its code: the first is read at the start, the second before epoch 3.
const numbered = `. ./first.sh
while [ $e -le $COLLAPSE_EPOCHS ]; do
	loaded=
	[ $e != 3 ] || { . ./second.sh; loaded=', "loaded": ["second.sh"]'; }
	checkpoint $e
	say "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $e, \"values\": {\"test/loss\": $digit$e}$loaded}"
	while [ -f wait ] && [ $e = 2 ]; do sleep 0.01; done
	e=$((e + 1))
done; finish`

// changing computes a run of numbered whose code is kept; hooks are those of its first attempt. It returns the errors of its attempts, of which the
// last is nil unless the run cannot be continued.
func changing(t *testing.T, hooks func(folder string, o *Options)) (tries []error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	spec, folder := written(t, numbered, 4)
	for name, text := range map[string]string{"first.sh": "digit=0.", "second.sh": "digit=0."} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666))
	}
	var err error
	spec.Code, err = DigestCode(folder, []string{"*.sh"})
	must(t, err)
	must(t, spec.Keep(folder))
	lab := openLab(t, t.TempDir())
	for first := true; first || err != nil && len(tries) < 5; first = false {
		opts := Options{Folder: folder, Grace: 300 * time.Millisecond}
		if first {
			hooks(folder, &opts)
		}
		err = Run(t.Context(), lab, spec, opts)
		tries = append(tries, err)
	}
	hash, _, err := spec.Identity()
	must(t, err)
	if tries[len(tries)-1] == nil {
		whole(t, lab, hash, 4)
	} else if run, err := lab.Run(hash); err != nil || run.Status == store.Done {
		t.Errorf("the run is %s, %v", run.Status, err)
	}
	return tries
}

// TestCodeThatChangesWhileAScriptReadsIt: the numbers are those of the code with which the run began, whenever it changes.
func TestCodeThatChangesWhileAScriptReadsIt(t *testing.T) {
	change := func(folder, name string) { // of a file, after a look and before it is read
		must(t, os.WriteFile(filepath.Join(folder, name), []byte("digit=7."), 0o666))
	}
	for name, c := range map[string]struct {
		hooks func(folder string, o *Options)
		says  []string // of each attempt that ends with an error
	}{
		"not at all": {func(string, *Options) {}, nil},
		"at the start": {func(folder string, o *Options) { o.Started = func(int) { change(folder, "first.sh") } },
			[]string{"first.sh has changed after the script had started, perhaps before it was read: it goes on after epoch 0"}},
		"script deleted at the start": {func(folder string, o *Options) {
			o.Started = func(int) { must(t, os.Remove(filepath.Join(folder, "train.sh"))) }
		},
			[]string{"train.sh is not there after the script had started; what the script made of that does not count"}},
		"module deleted at the start": {func(folder string, o *Options) {
			o.Started = func(int) { must(t, os.Remove(filepath.Join(folder, "first.sh"))) }
		},
			[]string{"first.sh is not there after the script had started; what the script made of that does not count"}},
		"what was read": {func(folder string, o *Options) {
			o.Reported = func(epoch int) {
				if epoch == 3 {
					change(folder, "first.sh")
				}
			}
		}, nil},
		"what is read later": {func(folder string, o *Options) {
			must(t, os.WriteFile(filepath.Join(folder, "wait"), nil, 0o666))
			o.Reported = func(epoch int) {
				if epoch == 2 {
					change(folder, "second.sh")
					must(t, os.Remove(filepath.Join(folder, "wait")))
				}
			}
		}, []string{"second.sh has changed after the script had started, perhaps before it was read: it goes on after epoch 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			tries := changing(t, c.hooks)
			if len(tries) != len(c.says)+1 || tries[len(tries)-1] != nil {
				t.Fatalf("attempts %v", tries)
			}
			for i, words := range c.says {
				var why *FailedError
				if err := tries[i]; errors.As(err, &why) || !strings.Contains(err.Error(), words) {
					t.Errorf("attempt %d: %v", i+1, err)
				}
			}
		})
	}
}

// TestTheFolderOfTheCodeMoves while a script runs: the run ends as it would have. A script that needs more than its code waits for the folder.
func TestTheFolderOfTheCodeMoves(t *testing.T) {
	move := func(folder string, o *Options) { o.Started = func(int) { must(t, os.Rename(folder, folder+"-moved")) } }
	if tries := changing(t, move); len(tries) != 2 || tries[1] != nil {
		t.Errorf("attempts %v", tries)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	spec, folder := written(t, "cat beside || exit 1; "+good, 2)
	put(t, filepath.Join(folder, "beside"), "data")
	must(t, spec.Keep(folder))
	lab, moved := openLab(t, t.TempDir()), folder+"-moved"
	must(t, os.Rename(folder, moved))
	var changed *ChangedError
	var why *FailedError
	if err := Run(t.Context(), lab, spec, Options{Folder: folder}); !errors.As(err, &changed) || errors.As(err, &why) || !strings.Contains(err.Error(), folder+" is not there") {
		t.Fatalf("without what lay beside: %v", err)
	}
	must(t, os.Rename(moved, folder))
	must(t, Run(t.Context(), lab, spec, Options{Folder: folder}))
}

// TestWhatIsLoadedFromElsewhereIsTold: what a run reads that neither its code nor its data name.
func TestWhatIsLoadedFromElsewhereIsTold(t *testing.T) {
	lib := t.TempDir()
	for _, name := range []string{"util.py", "named.py"} {
		put(t, filepath.Join(lib, name), "x = "+name)
	}
	util, named, gone := filepath.Join(lib, "util.py"), filepath.Join(lib, "named.py"), filepath.Join(lib, "gone.py")
	for want, loaded := range map[string][]string{
		"": {"train.py", "lib/model.py", named, ".venv/x.py", "env/site-packages/y.py", "../z.py"},
		"the script has loaded lib/other.py, which [trainer] code does not name: a change of it makes no new runs":                                     {"lib/other.py", "train.py"},
		"the script has loaded " + util + " from outside its folder: a change of it makes no new runs unless [trainer] data names it":                  {named, util},
		"the script has loaded " + util + " and " + gone + " from outside its folder: a change of it makes no new runs unless [trainer] data names it": {util, gone},
	} {
		var notes []string
		j := job{dir: rundir.Dir(t.TempDir()), spec: Spec{Inputs: []string{filepath.Join(lib, "named.*")}, Code: map[string]string{"train.py": "1", "lib/model.py": "2"}}, opts: Options{Note: func(text string) { notes = append(notes, text) }}}
		j.unnamed(loaded)
		if got := strings.Join(notes, "\n"); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
