package cli

type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish,words" help:"Shell: bash, zsh or fish; words lists candidates for the last word after --, which the scripts call."`
	Words []string `arg:"" optional:"" passthrough:"" hidden:""`
}

// The scripts ask the program itself, so they never go stale: `collapse completion words …`
// prints the candidates for the last word.
var completionScripts = map[string]string{
	"bash": `# collapse completion for bash: source <(collapse completion bash)
_collapse() {
  local IFS=$'\n'
  COMPREPLY=($(collapse completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
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
		script := completionScripts[c.Shell]
		return a.emit(map[string]string{"shell": c.Shell, "script": script}, func() { a.print(script) })
	}
	found := candidates(a.model.Model, c.Words)
	return a.emit(map[string][]string{"words": found}, func() {
		for _, w := range found {
			a.printf("%s\n", w)
		}
	})
}
