package cli

import (
	"fmt"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish,words" help:"bash, zsh or fish."`
	Words []string `arg:"" optional:"" passthrough:"" hidden:""`
}

// The scripts ask the program itself, so they never go stale: `collapse completion words …`
// prints the candidates for the last word.
var completionScripts = map[string]string{
	"bash": `# collapse completion for bash: source <(collapse completion bash)
_collapse() {
  local IFS=$'\n'
  COMPREPLY=($(collapse completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _collapse collapse
`,
	"zsh": `#compdef collapse
# collapse completion for zsh: source <(collapse completion zsh)
_collapse() {
  local -a found
  found=("${(@f)$(collapse completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $found || _files
}
compdef _collapse collapse
`,
	"fish": `# collapse completion for fish: collapse completion fish | source
complete -c collapse -a '(collapse completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

func (c completionCmd) Run(a *app) error {
	if c.Shell != "words" {
		fmt.Fprint(a.stdout, completionScripts[c.Shell])
		return nil
	}
	for _, w := range candidates(a.model.Model, c.Words) {
		fmt.Fprintln(a.stdout, w)
	}
	return nil
}

// candidates returns what may stand in the place of the last of words, sorted.
func candidates(model *kong.Application, words []string) []string {
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	last := ""
	if len(words) > 0 {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	node := model.Node
	for _, w := range words {
		if child := childNamed(node, w); child != nil {
			node = child
		}
	}
	var all []string
	if strings.HasPrefix(last, "-") {
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				all = append(all, "--"+flag.Name)
			}
		}
	} else if len(words) > 0 && strings.HasPrefix(words[len(words)-1], "--") {
		all = flagValues(node, words[len(words)-1])
	} else {
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, child.Name)
			}
		}
		for _, arg := range node.Positional {
			all = append(all, arg.EnumSlice()...)
		}
	}
	return withPrefix(all, last)
}

func childNamed(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagValues returns the values that an enumerated flag can take.
func flagValues(node *kong.Node, name string) []string {
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			if "--"+flag.Name == name {
				return flag.EnumSlice()
			}
		}
	}
	return nil
}

func withPrefix(words []string, prefix string) []string {
	kept := words[:0]
	for _, w := range words {
		if w != "" && strings.HasPrefix(w, prefix) {
			kept = append(kept, w)
		}
	}
	sort.Strings(kept)
	return kept
}
