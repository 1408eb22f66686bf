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

// mostLoaded bounds the modules whose digests a run keeps.
const mostLoaded = 1000

// unnamed tells of files that the script has read and that are not part of its code: beside it, or outside its folder and not among the data.
// Their digests are kept in the run's folder, for ChangedSince.
func (j *job) unnamed(loaded []string) {
	var beside, outside []string
	data := map[string]bool(nil)
	for _, name := range loaded {
		switch slashed := filepath.ToSlash(name); {
		case filepath.IsAbs(name):
			if data == nil {
				data = j.spec.FilesOfData(j.opts.Folder)
			}
			if !data[real(name)] {
				outside = append(outside, name)
				j.keepDigest(name, name)
			}
		case j.spec.Code[slashed] == "" && filepath.IsLocal(name) && !strings.HasPrefix(name, ".") && !strings.Contains(slashed, "-packages/"):
			beside = append(beside, slashed)
			j.keepDigest(slashed, filepath.Join(j.code, name))
		}
	}
	if len(beside)+len(outside) > 0 { // like output, that is no result
		_ = os.WriteFile(j.dir.ScriptLoaded(), sumsOf(j.loaded), 0o666)
	}
	if len(beside) > 0 {
		j.opts.note(fmt.Sprintf("the script has loaded %s, which [trainer] code does not name: a change of it makes no new runs", format.Few(beside, 3)))
	}
	if len(outside) > 0 {
		j.opts.note(fmt.Sprintf("the script has loaded %s from outside its folder: a change of it makes no new runs unless [trainer] data names it", format.Few(outside, 3)))
	}
}

// keepDigest notes the digest of a file under a name, if it may be a module.
func (j *job) keepDigest(name, path string) {
	if len(j.loaded) == mostLoaded || strings.ContainsAny(name, "\n\r") {
		return
	}
	if sum := moduleDigest(path); sum != "" {
		if j.loaded == nil {
			j.loaded = map[string]string{}
		}
		j.loaded[name] = sum
	}
}

// moduleDigest is the digest of a file that may be a module; "" if it is none, or cannot be read.
func moduleDigest(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > mostRead {
		return ""
	}
	sum, err := digestFile(path)
	if err != nil {
		return ""
	}
	return sum
}

// real is a path without links, as far as it exists.
func real(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	return filepath.Clean(path)
}

// FilesOfData are the files that the run's data name now in a folder, as paths without links.
func (s Spec) FilesOfData(folder string) map[string]bool {
	found := map[string]bool{}
	for _, pattern := range s.Inputs {
		names, _ := expand(folder, pattern) // a pattern without a file is told elsewhere
		for _, name := range names {
			if !filepath.IsAbs(name) {
				name = filepath.Join(folder, name)
			}
			if whole, err := filepath.Abs(name); err == nil {
				found[real(whole)] = true
			}
		}
	}
	return found
}

// Overlooks reports whether a name is that of a file in the folder which is part neither of the code nor of the data, which are FilesOfData.
func (s Spec) Overlooks(folder, name string, data map[string]bool) bool {
	path := filepath.Join(folder, name)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || s.Code[filepath.ToSlash(filepath.Clean(name))] != "" {
		return false
	}
	whole, err := filepath.Abs(path)
	return err == nil && !data[real(whole)]
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

// ChangedSince lists the modules that a run has loaded, that are part neither of its code nor of its data, and that are others now in folder,
// the code's, or where they lay. What is not there says nothing: the run may be of another machine. dir is the run's folder.
func ChangedSince(dir, folder string) (changed []string) {
	was := readSums(dir, rundir.Dir(dir).ScriptLoaded())
	names := slices.Sorted(maps.Keys(was))
	for _, name := range names[:min(len(names), mostLoaded)] {
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if now := moduleDigest(path); now != "" && now != was[name] {
			changed = append(changed, name)
		}
	}
	return changed
}
