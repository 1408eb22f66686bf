package script

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"collapse.example/collapse/internal/inputfile"
)

// imported finds Python's two forms of import, the second with the names in brackets over several lines or without: at the beginning of a
// line, or after another statement or the head of a compound one ("try: import net").
var imported = regexp.MustCompile(`(?m)(?:^|[;:])[ \t]*(?:import[ \t]+((?:\\\r?\n|[^\n#;])+)|from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|(?:\\\r?\n|[^\n#;])+))`)

var dotted = regexp.MustCompile(`[A-Za-z_][\w.]*`)

// Imports lists the Python files of a folder that the given ones import, directly or not, and that are not among them: paths relative to
// the folder, with slashes. Only the text is read, so that what is imported by other means than a statement is not found; a name that
// the text does not import counts too, if a file has it. Modules are looked for beside each given file, where Python finds them; with
// python -m, in the folder.
func Imports(folder string, files []string, asModule bool) ([]string, error) {
	known := map[string]bool{}
	for _, f := range files {
		known[f] = true
	}
	found := map[string]bool{}
	for _, first := range files {
		seen := map[string]bool{}
		for next := []string{first}; len(next) > 0; next = next[1:] {
			if seen[next[0]] || path.Ext(next[0]) != ".py" {
				continue
			}
			seen[next[0]] = true
			if !known[next[0]] {
				found[next[0]] = true
			}
			if len(found)+len(files) > mostFiles {
				return nil, fmt.Errorf("%s imports more than %d files", first, mostFiles)
			}
			root := path.Dir(first)
			if asModule {
				root = "."
			}
			modules, err := importsOf(folder, next[0], root)
			if err != nil {
				return nil, err
			}
			next = append(next, modules...)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// importsOf lists the files of the folder that one of its files imports; root is where absolute names begin.
func importsOf(folder, file, root string) (list []string, err error) {
	f, err := inputfile.Open(filepath.Join(folder, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostRead))
	if err != nil {
		return nil, err
	}
	for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
		for _, module := range modulesOf(m[1], m[2], m[3]) {
			list = append(list, module.files(folder, root, path.Dir(file))...)
		}
	}
	return list, nil
}

// module is a name that is imported: a package and modules in it. up counts the dots before a relative name.
type module struct {
	parts []string
	up    int
}

// modulesOf reads "import plain" or "from from import names". What is imported from a package may be a module of it.
func modulesOf(plain, from, names string) (list []module) {
	for _, one := range strings.Split(plain, ",") {
		if name := dotted.FindString(one); name != "" {
			list = append(list, module{parts: strings.Split(name, ".")})
		}
	}
	if from == "" {
		return list
	}
	bare := strings.TrimLeft(from, ".")
	base := module{up: len(from) - len(bare)}
	if bare != "" {
		base.parts = strings.Split(bare, ".")
	}
	list = append(list, base)
	for _, name := range dotted.FindAllString(names, -1) {
		list = append(list, module{append(slices.Clone(base.parts), name), base.up})
	}
	return list
}

// files lists the files that importing the module runs, as far as they lie in the folder: those of its packages, and its own.
func (m module) files(folder, root, here string) (list []string) {
	at := root
	if m.up > 0 {
		at = here
		for range m.up - 1 {
			at = path.Join(at, "..")
		}
	}
	if m.up > 0 && len(m.parts) == 0 {
		return regular(folder, path.Join(at, "__init__.py"))
	}
	for _, part := range m.parts {
		at = path.Join(at, part)
		list = append(list, append(regular(folder, at+".py"), regular(folder, path.Join(at, "__init__.py"))...)...)
	}
	return list
}

// regular is the name of a regular file in the folder, or nothing.
func regular(folder, name string) []string {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil
	}
	if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return []string{name}
}
