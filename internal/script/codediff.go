package script

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
)

// FileDiff is a file of the code in which two runs differ.
type FileDiff struct {
	File string `json:"file"`
	Diff string `json:"diff,omitempty"` // unified; "" if Why says what is in its way
	Why  string `json:"why,omitempty"`
}

const (
	mostDiffs    = 50      // files that are compared
	mostDiffText = 1 << 20 // bytes of a file
)

// DiffCode compares the code of two runs, file by file. The texts are those that this user's studies have kept (see Spec.Keep); digests alone
// tell that a file differs.
func DiffCode(was, is map[string]string) (out []FileDiff) {
	names := map[string]string{}
	maps.Copy(names, was)
	maps.Copy(names, is)
	maps.DeleteFunc(names, func(name, _ string) bool { return was[name] == is[name] })
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if len(out) == mostDiffs {
			out[mostDiffs-1] = FileDiff{File: name, Why: fmt.Sprintf("%d more files differ", len(names)-mostDiffs+1)}
			break
		}
		out = append(out, diffFile(name, was[name], is[name]))
	}
	return out
}

// mostSums bounds the list of digests in a run's folder.
const mostSums = 1 << 20

// CodeOf are the digests of the code that the newest attempt of a run used, by the list in its folder, or that identifies the run, by its
// configuration: those may differ where a study says that other code is the same.
func CodeOf(dir string, config []byte) (map[string]string, error) {
	if used := readSums(dir, rundir.Dir(dir).ScriptCode()); len(used) > 0 {
		return used, nil
	}
	var c struct {
		Trainer struct{ Code map[string]string }
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, fmt.Errorf("script: a configuration that cannot be read: %w", err)
	}
	if c.Trainer.Code == nil {
		c.Trainer.Code = map[string]string{}
	}
	return c.Trainer.Code, nil
}

// diffFile compares a file's contents with these digests; "" where a run has no such file.
func diffFile(name, was, is string) FileDiff {
	d := FileDiff{File: name}
	before, known := keptText(name, was)
	after, knownToo := keptText(name, is)
	switch {
	case !known || !knownToo:
		d.Why = fmt.Sprintf("SHA-256 %s and %s; this machine has kept no copy of both", cmp.Or(ShortDigest(was), "none"), cmp.Or(ShortDigest(is), "none"))
	case !utf8.ValidString(before) || !utf8.ValidString(after):
		d.Why = "not a text"
	default:
		d.Diff = udiff.Unified("a/"+name, "b/"+name, before, after)
	}
	return d
}

// keptText looks through the copies of code for a file with a digest. No file has the digest "".
func keptText(name, digest string) (text string, known bool) {
	at := filepath.FromSlash(name)
	if digest == "" {
		return "", true
	}
	if !filepath.IsLocal(at) {
		return "", false
	}
	cache, err := keptCache()
	if err != nil {
		return "", false
	}
	dirs, _ := os.ReadDir(cache) // without the folder there are no copies
	for _, dir := range dirs {
		folder := filepath.Join(cache, dir.Name())
		path := filepath.Join(folder, at)
		if !keptName.MatchString(dir.Name()) || jail.Below(folder, path) != nil { // what lies beside the code is linked
			continue
		}
		f, err := inputfile.Open(path)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, mostDiffText+1))
		f.Close()
		if sum := sha256.Sum256(text); err == nil && hex.EncodeToString(sum[:]) == digest {
			return string(text), true
		}
	}
	return "", false
}
