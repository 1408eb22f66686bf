package version

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// sources is a digest of the sources, which the linker sets in a release: -X collapse.example/collapse/internal/version.sources=…
var sources string

// ID names this build: the version, and what the program was made of. Programs of one ID compute the same numbers on the same kind of
// processor; the version alone does not say that, since many builds have it. It is "0.2.0+src.D", with a digest of the sources, in a
// release; "0.2.0+git.R", with the revision, for one built in a clean checkout; and else, also where the checkout was changed,
// "0.2.0+bin.D", with a digest of the program itself, which differs between platforms.
var ID = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return Version + "+" + buildOf(sources, info, os.Executable)
})

// digits is the length of digests and revisions in an ID.
const digits = 12

func buildOf(sources string, info *debug.BuildInfo, program func() (string, error)) string {
	if sources != "" {
		return "src." + sources[:min(digits, len(sources))]
	}
	setting := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			setting[s.Key] = s.Value
		}
	}
	if r := setting["vcs.revision"]; len(r) >= digits && setting["vcs.modified"] == "false" {
		return "git." + r[:digits]
	}
	path, err := program()
	if err != nil {
		return "unknown"
	}
	digest, err := digestOf(path)
	if err != nil {
		return "unknown"
	}
	return "bin." + digest[:digits]
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
