package cli

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"collapse.example/collapse/internal/spelling"
)

// unknownFlagError begins what kong says of a flag that no command on the way has.
const unknownFlagError = "unknown flag --"

// misspelt describes a refused call: which flag, command or value does not exist, and what may have been meant.
func misspelt(err error) error {
	var refused *kong.ParseError
	if !errors.As(err, &refused) || refused.Context == nil {
		return err
	}
	call := refused.Context
	if value := refusedValue(call); value != nil {
		return value
	}
	node := call.Model.Node
	if selected := call.Selected(); selected != nil {
		node = selected
	}
	if lacking := lackingValue(node, err.Error()); lacking != nil {
		return lacking
	}
	text, _, _ := strings.Cut(err.Error(), ", did you mean")
	if word, ok := strings.CutPrefix(text, unknownFlagError); ok {
		return unknownFlag(call.Model, node, word)
	}
	if word, ok := strings.CutPrefix(text, "unexpected argument "); ok && len(node.Children) > 0 {
		return unknownCommand(node, word)
	}
	return err
}

// refusedValue says which enumerated flag or argument has a value that is not allowed; nil if none has.
func refusedValue(call *kong.Context) error {
	for _, at := range call.Path {
		value := at.Positional
		if at.Flag != nil {
			value = at.Flag.Value
		}
		if value == nil || value.Enum == "" {
			continue
		}
		known := choices(value)
		word := fmt.Sprint(reflect.Indirect(call.Value(at)))
		if word != "" && !slices.Contains(known, word) {
			return fmt.Errorf("%s is %q; wanted one of %s%s", value.ShortSummary(), word, strings.Join(known, ", "), spelling.Suggestion(word, known))
		}
	}
	return nil
}

// noValue is what kong says where a flag ends the call or another flag follows it.
var noValue = regexp.MustCompile(`^--([a-z0-9-]+): expected \S+ value but got "(.*?)" \((<EOL>|long flag|short flag)\)`)

// lackingValue says which flag has no value, or which argument is missing and what it may be; nil if that is not what was wrong.
func lackingValue(node *kong.Node, said string) error {
	if found := noValue.FindStringSubmatch(said); found != nil {
		wanted, article := "value", "a"
		for _, flag := range slices.Concat(node.AllFlags(true)...) {
			if flag.Name == found[1] {
				wanted = cmp.Or(flag.PlaceHolder, wanted)
			}
		}
		if strings.ContainsRune("AEIO", rune(wanted[0])) {
			article = "an"
		}
		if found[3] == "<EOL>" {
			return fmt.Errorf("--%s needs %s %s", found[1], article, wanted)
		}
		return fmt.Errorf("--%s needs %s %s, and %s follows it", found[1], article, wanted, found[2])
	}
	for _, argument := range node.Positional {
		if argument.Enum != "" && said == fmt.Sprintf("expected %q", argument.Summary()) {
			return fmt.Errorf("%s needs a %s: one of %s", node.FullPath(), argument.Name, strings.Join(choices(argument), ", "))
		}
	}
	return nil
}

// unknownFlag names the nearest flag of a command, and the commands that have the flag.
func unknownFlag(model *kong.Application, node *kong.Node, name string) error {
	var known, others []string
	groups := node.AllFlags(true)
	slices.Reverse(groups) // the command's own before those that every command has
	for _, flag := range slices.Concat(groups...) {
		known = append(known, flag.Name)
	}
	hint := ""
	if near := spelling.Nearest(name, known); near != "" {
		hint = "; did you mean --" + near + "?"
	}
	if len(node.Children) > 0 { // no command yet
		return fmt.Errorf("unknown flag --%s%s", name, hint)
	}
	for _, leaf := range model.Leaves(true) {
		if slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == name && !f.Hidden }) {
			others = append(others, leaf.FullPath())
		}
	}
	if hint == "" && others != nil {
		hint = "; it belongs to " + strings.Join(others[:min(3, len(others))], ", ")
	}
	return fmt.Errorf("%s has no flag --%s%s", node.FullPath(), name, hint)
}

// unknownCommand names the nearest command.
func unknownCommand(node *kong.Node, word string) error {
	var known []string
	for _, child := range node.Children {
		if !child.Hidden {
			known = append(known, child.Name)
		}
	}
	hint := spelling.Suggestion(word, known)
	if hint == "" {
		hint = "; there are " + strings.Join(known, ", ")
	}
	return fmt.Errorf("there is no command %q%s", strings.TrimSpace(node.FullPath()+" "+word), hint)
}

// choices are the values that an enumerated flag or argument takes, without the empty one, which stands for none.
func choices(value *kong.Value) []string {
	return slices.DeleteFunc(value.EnumSlice(), func(word string) bool { return word == "" })
}
