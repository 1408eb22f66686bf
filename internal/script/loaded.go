package script

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/rundir"
)

// unnamed tells of files that the script has read and that are not part of its code: beside it, or outside its folder and not among the data.
// Their digests are kept in the run's folder, for ChangedSince.
func (j *job) unnamed(loaded []string) {
	var beside, outside []string
	for _, name := range loaded {
		switch slashed := filepath.ToSlash(name); {
		case filepath.IsAbs(name):
			if sum, err := digestOnce(name); err != nil || !slices.Contains(j.spec.Data, sum) {
				outside = append(outside, name)
				j.keepDigest(name, sum)
			}
		case j.spec.Code[slashed] == "" && filepath.IsLocal(name) && !strings.HasPrefix(name, ".") && !strings.Contains(slashed, "-packages/"):
			beside = append(beside, slashed)
			sum, _ := digestFile(filepath.Join(j.code, name))
			j.keepDigest(filepath.Join(j.code, name), sum)
		}
	}
	if len(beside) > 0 {
		j.opts.note(fmt.Sprintf("the script has loaded %s, which [trainer] code does not name: a change of it makes no new runs", format.Few(beside, 3)))
	}
	if len(outside) > 0 {
		j.opts.note(fmt.Sprintf("the script has loaded %s from outside its folder: a change of it makes no new runs unless [trainer] data names it", format.Few(outside, 3)))
	}
}

// Overlooks reports whether a name is that of a file in the folder which is part neither of the code nor of the data.
func (s Spec) Overlooks(folder, name string) bool {
	path := filepath.Join(folder, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || s.Code[filepath.ToSlash(filepath.Clean(name))] != "" {
		return false
	}
	if len(s.Data) == 0 {
		return true
	}
	sum, err := digestOnce(path)
	return err == nil && !slices.Contains(s.Data, sum)
}

// mostLoaded bounds the modules whose digests a run keeps.
const mostLoaded = 1000

// keepDigest notes the digest of a file, "" if it cannot be read. Like output, that is no result.
func (j *job) keepDigest(path, sum string) {
	if sum == "" || strings.ContainsAny(path, "\n\r") || len(j.loaded) == mostLoaded {
		return
	}
	if j.loaded == nil {
		j.loaded = map[string]string{}
	}
	j.loaded[path] = sum
	_ = os.WriteFile(j.dir.ScriptLoaded(), sumsOf(j.loaded), 0o666)
}

// sumsOf are digests by name as sha256sum writes them.
func sumsOf(files map[string]string) []byte {
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%s  %s\n", files[name], name)
	}
	return []byte(sums.String())
}

// readSums reads what sumsOf has written to a file below dir, the folder of a run; what is no digest is left out.
func readSums(dir, path string) map[string]string {
	files := map[string]string{}
	for line := range strings.Lines(string(endOf(dir, path, mostSums))) {
		if sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); ok && digestRule.MatchString(sum) {
			files[name] = sum
		}
	}
	return files
}

// ChangedSince lists the modules that a run has loaded, that are part neither of its code nor of its data, and that are others now or gone.
// dir is the run's folder.
func ChangedSince(dir string) (changed []string) {
	was := readSums(dir, rundir.Dir(dir).ScriptLoaded())
	for i, path := range slices.Sorted(maps.Keys(was)) {
		if i == mostLoaded {
			break
		}
		if info, err := os.Stat(path); err == nil && (!info.Mode().IsRegular() || info.Size() > mostRead) {
			continue // no module
		}
		if now, err := digestFile(path); err != nil || now != was[path] {
			changed = append(changed, path)
		}
	}
	return changed
}
