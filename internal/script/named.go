package script

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// interpreter is the name of a program that runs scripts.
var interpreter = regexp.MustCompile(`^(python|pypy|julia|Rscript|sh|bash|zsh|perl|ruby|node|env|uv)[0-9.]*(\.exe)?$`)

// Named is the file of a script in its command, not the interpreter; "script" if no word looks like one.
func Named(command []any) string {
	for i, word := range command {
		name := fmt.Sprint(word)
		if strings.ContainsRune(name, '.') && !strings.HasPrefix(name, "-") && !(i == 0 && interpreter.MatchString(filepath.Base(name))) {
			return filepath.Base(name)
		}
	}
	return "script"
}
