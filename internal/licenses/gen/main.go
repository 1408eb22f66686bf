// Command gen writes licenses.txt.br: the licence files of every module that cmd/collapse links, or whose data it holds,
// on any of the platforms the project builds for, after the project's own and Go's.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"collapse.example/collapse/internal/licenses"
	"collapse.example/collapse/internal/zipped"
)

// licenceFile matches what modules call the files that state their terms.
var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents|copyright)([._-].*)?$`)

var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

func main() {
	log.SetFlags(0)
	root := output("go", "list", "-m", "-f", "{{.Dir}}")
	var out bytes.Buffer
	section(&out, "collapse", root)
	section(&out, "Go standard library", output("go", "env", "GOROOT"))
	for _, m := range modules() {
		path, dir, _ := strings.Cut(m, "\t")
		section(&out, path, dir)
	}
	vendored := filepath.Join(root, "internal", "serve", "assets", "licenses")
	scripts, err := os.ReadDir(vendored)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scripts {
		section(&out, s.Name()+" (script of the live page)", filepath.Join(vendored, s.Name()))
	}
	if out.String() == licenses.Text() {
		return // another version of Go may compress the same text to other bytes
	}
	packed := zipped.Brotli(out.Bytes())
	if err := os.WriteFile(filepath.Join(root, "internal", "licenses", "licenses.txt.br"), packed, 0o644); err != nil {
		log.Fatal(err)
	}
}

// modules returns "path version<TAB>directory" of every linked module, sorted.
func modules() []string {
	seen := map[string]bool{}
	for _, p := range platforms {
		goos, goarch, _ := strings.Cut(p, "/")
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "collapse.example/collapse/cmd/collapse", "collapse.example/collapse/internal/chart/gen")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			log.Fatalf("go list for %s: %v", p, err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			seen[line] = line != ""
		}
	}
	var all []string
	for line, ok := range seen {
		if ok {
			all = append(all, line)
		}
	}
	sort.Strings(all)
	return all
}

// section appends every licence file in dir and, for modules that bundle fonts, below it.
func section(out *bytes.Buffer, title, dir string) {
	files := licenceFiles(dir)
	if len(files) == 0 {
		log.Fatalf("%s: no licence file in %s", title, dir)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(out, "%s\n%s: %s\n%s\n%s\n\n", strings.Repeat("=", 80), title, f, strings.Repeat("=", 80), bytes.TrimSpace(text))
	}
}

func licenceFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if !e.IsDir() && licenceFile.MatchString(e.Name()) {
			found = append(found, e.Name())
		}
	}
	return found
}

func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return strings.TrimSpace(string(text))
}
