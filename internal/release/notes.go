package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"collapse.example/collapse/internal/version"
)

// notes makes collapse-VERSION-notes.md of the changelog.
func (r *release) notes() error {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	section, err := changes(string(text), version.Version)
	if err != nil {
		return err
	}
	return r.write("collapse-"+version.Version+"-notes.md", []byte(section))
}

// changes is the section of a changelog below "## VERSION", which a date or a remark may follow, up to the next such heading.
func changes(changelog, version string) (string, error) {
	var section strings.Builder
	inside, found := false, false
	for line := range strings.Lines(changelog) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			words := strings.Fields(heading)
			inside = len(words) > 0 && words[0] == version
			found = found || inside
			continue
		}
		if inside {
			section.WriteString(line)
		}
	}
	body := strings.TrimSpace(section.String())
	if !found || body == "" {
		return "", fmt.Errorf("CHANGELOG.md says nothing below a heading %q; write what changed", "## "+version)
	}
	return "# collapse " + version + "\n\n" + body + "\n", nil
}
