package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"collapse.example/collapse/internal/train"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" complete:"commands" help:"Words of the command, such as study run; none: every command." placeholder:"COMMAND"`
}

func (c helpCmd) Run(a *app) error {
	words := slices.Clone(c.Command)
	if a.flags.JSON {
		words = append(words, "--json")
	}
	call, err := kong.Trace(a.model, words)
	if err != nil {
		return err
	}
	if len(call.Path)-1 < len(words) { // it stopped at a word that is not a command
		node := call.Selected()
		if node == nil {
			node = a.model.Model.Node
		}
		return usageError{unknownCommand(node, words[max(0, len(call.Path)-1)])}
	}
	if len(c.Command) == 0 {
		return printWhole(helpOptions, call)
	}
	return call.PrintUsage(false)
}

var helpOptions = kong.HelpOptions{Compact: true, ValueFormatter: describe}

// notFirst are the commands that the first screen leaves to collapse help.
var notFirst = []string{"bench", "engine", "licenses", "results"}

// printHelp prints the help of a command, or the first screen: commands by what they are for, without those of notFirst and without the
// commands within them.
func printHelp(options kong.HelpOptions, call *kong.Context) error {
	if call.Selected() != nil {
		return printWhole(options, call)
	}
	options.NoExpandSubcommands, options.FlagsLast = true, true
	for _, node := range call.Model.Children {
		if !node.Hidden && slices.Contains(notFirst, node.Name) {
			node.Hidden = true
			defer func() { node.Hidden = false }()
		}
	}
	return printWhole(options, call)
}

// versionFlag is --version, which is the command version.
type versionFlag bool

// BeforeReset ends the call before the parser asks for a command.
func (versionFlag) BeforeReset(call *kong.Context, flags *program) error {
	flags.JSON = slices.Contains(call.Args, "--json")
	a := &app{stdout: call.Stdout, stderr: call.Stderr, flags: flags}
	if err := (versionCmd{}).Run(a); err != nil {
		return err
	}
	call.Kong.Exit(exitOK)
	return nil
}

// printWhole is kong's help with the command's examples below; with --json the text is a document.
func printWhole(options kong.HelpOptions, call *kong.Context) error {
	out := call.Stdout
	var text bytes.Buffer
	call.Kong.Stdout = &text
	err := kong.DefaultHelpPrinter(options, call)
	call.Kong.Stdout = out
	if err != nil {
		return err
	}
	if options.NoExpandSubcommands {
		text.WriteString("Run \"collapse help\" for every command.\n")
	}
	path := ""
	if node := call.Selected(); node != nil {
		path = node.Path()
	}
	if lines := examples[path]; len(lines) > 0 {
		text.WriteString("\nExamples:\n")
		for _, line := range lines {
			text.WriteString("  " + line + "\n")
		}
	}
	if slices.Contains(call.Args, "--json") {
		return encodeJSON(out, map[string]string{"help": text.String()})
	}
	_, err = io.Copy(out, &text)
	return err
}

// describe is the help of a flag or an argument with its default and its environment variable. Help that contains the word "default"
// already states the default.
func describe(value *kong.Value) string {
	text := value.Help
	var more []string
	if d := defaultOf(value); d != "" && !strings.Contains(text, "default") {
		more = append(more, "default "+d)
	}
	for _, env := range value.Tag.Envs {
		more = append(more, "$"+env)
	}
	if len(more) == 0 {
		return text
	}
	return fmt.Sprintf("%s (%s).", strings.TrimSuffix(text, "."), strings.Join(more, ", "))
}

// defaultOf is the default of a flag as a user would write it: its own, or that of the configuration key it sets.
func defaultOf(value *kong.Value) string {
	if key := value.Tag.Get(keyTag); key != "" {
		return train.DefaultOf(key)
	}
	return value.Default
}

// keyTag names the configuration key that a flag of train sets.
const keyTag = "key"
