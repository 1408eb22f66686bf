package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// completeTag names the values that a flag or an argument takes: lists of completions, or words, separated by commas.
const completeTag = "complete"

// completions lists what a flag or an argument can be, by the word of its tag; lab is the folder of the lab that the call names. If
// anything goes wrong it suggests nothing: errors must not appear while somebody types.
var completions = map[string]func(lab string) []string{
	"runs":     completeRuns,
	"studies":  completeStudies,
	"recipes":  func(string) []string { return recipe.IDs() },
	"measures": completeMeasures,
	"settings": completeSettings,
	"papers": func(string) (names []string) {
		for _, s := range train.Settings() {
			names = append(names, s.Name)
		}
		return names
	},
	"sets": func(string) (names []string) {
		for _, info := range data.List() {
			if len(info.Remote) > 0 {
				names = append(names, info.Name)
			}
		}
		return names
	},
}

// mostCompleted bounds the suggested runs; the newest are taken.
const mostCompleted = 200

func completeRuns(lab string) (hashes []string) {
	withLab(lab, func(r *store.Reader) error {
		runs, err := r.List(store.Filter{Limit: mostCompleted})
		for _, run := range runs {
			hashes = append(hashes, run.Hash[:min(12, len(run.Hash))])
		}
		return err
	})
	return hashes
}

func completeStudies(lab string) (names []string) {
	withLab(lab, func(r *store.Reader) error {
		studies, err := r.Studies()
		for _, s := range studies {
			names = append(names, s.Name)
		}
		return err
	})
	return names
}

// withLab reads a lab, if there is one.
func withLab(dir string, read func(*store.Reader) error) {
	r, err := store.OpenReader(dir)
	if err != nil {
		return
	}
	defer r.Close()
	_ = read(r) // see completions
}

func completeMeasures(string) []string {
	keys := []string{"default", "all"}
	for _, d := range measure.Definitions() {
		keys = append(keys, d.Key)
	}
	return keys
}

// completeSettings lists every key with an equals sign, and with each of its values if they are few.
func completeSettings(string) (settings []string) {
	for _, k := range train.Keys() {
		settings = append(settings, k.Name+"=")
		for _, value := range k.Choices {
			settings = append(settings, k.Name+"="+value)
		}
	}
	return settings
}

// candidates returns the sorted completions of the last of words.
func candidates(model *kong.Application, words []string) []string {
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	words, split := joined(words)
	if len(words) == 0 {
		words = []string{""}
	}
	at := cursor{model: model, node: model.Node, lab: cmp.Or(os.Getenv("COLLAPSE_LAB"), "lab")}
	for _, w := range words[:len(words)-1] {
		at.pass(w)
	}
	last := words[len(words)-1]
	found := withPrefix(at.words(last), last)
	if split { // the shell replaces what follows the equals sign alone
		for i, w := range found {
			found[i] = w[strings.LastIndexByte(w, '=')+1:]
		}
	}
	return found
}

// joined rejoins words that bash splits at equals signs, and reports whether the last one was split.
func joined(words []string) (whole []string, split bool) {
	for i, w := range words {
		after := i > 0 && words[i-1] == "="
		if n := len(whole); n > 0 && (w == "=" || after) {
			whole[n-1] += w
			split = true
			continue
		}
		whole, split = append(whole, w), false
	}
	return whole, split
}

// cursor is a place in a call.
type cursor struct {
	model  *kong.Application
	node   *kong.Node
	lab    string
	flag   *kong.Flag // the flag whose value comes next, or nil
	passed int        // arguments of the command
}

// pass moves past a word.
func (c *cursor) pass(word string) {
	c.imply(word)
	switch {
	case c.flag != nil:
		c.value(c.flag, word)
		c.flag = nil
	case strings.HasPrefix(word, "--"):
		name, value, whole := strings.Cut(word, "=")
		if flag := c.find(name); flag != nil && whole {
			c.value(flag, value)
		} else if flag != nil && !flag.IsBool() {
			c.flag = flag
		}
	default:
		if child := childNamed(c.node, word); child != nil {
			c.node, c.passed = child, 0
		} else {
			c.passed++
		}
	}
}

// imply enters the command that may be left unnamed, as in collapse solve mse, once a word can only belong to it.
func (c *cursor) imply(word string) {
	usual := c.node.DefaultCmd
	if c.flag != nil || usual == nil || childNamed(c.node, word) != nil {
		return
	}
	name, _, _ := strings.Cut(word, "=")
	if !strings.HasPrefix(word, "-") || c.find(name) == nil && flagNamed(usual, name) != nil {
		c.node = usual
	}
}

// value notes the value of --lab, the only flag that matters here.
func (c *cursor) value(flag *kong.Flag, value string) {
	if flag.Name == "lab" {
		c.lab = value
	}
}

func (c *cursor) find(name string) *kong.Flag { return flagNamed(c.node, name) }

func flagNamed(node *kong.Node, name string) *kong.Flag {
	for _, flag := range slices.Concat(node.AllFlags(true)...) {
		if "--"+flag.Name == name {
			return flag
		}
	}
	return nil
}

// words are the candidates at the cursor.
func (c *cursor) words(last string) (all []string) {
	name, value, whole := strings.Cut(last, "=")
	switch {
	case c.flag != nil:
		return c.of(c.flag.Value, last)
	case strings.HasPrefix(last, "--") && whole:
		if flag := c.find(name); flag != nil {
			for _, w := range c.of(flag.Value, value) {
				all = append(all, name+"="+w)
			}
		}
		return all
	case strings.HasPrefix(last, "-"):
		c.imply(last)
		for _, flag := range slices.Concat(c.node.AllFlags(true)...) {
			all = append(all, "--"+flag.Name)
		}
		return all
	}
	node := c.node
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, child.Name)
		}
	}
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	if args := node.Positional; len(args) > 0 && (c.passed < len(args) || args[len(args)-1].IsCumulative()) {
		all = append(all, c.of(args[min(c.passed, len(args)-1)], last)...)
	}
	return all
}

// of lists what a flag or an argument can be: its enumeration, the choices of the key that it sets, or what its tag says.
func (c *cursor) of(value *kong.Value, last string) []string {
	all := choices(value)
	if key := value.Tag.Get(keyTag); key != "" {
		for _, k := range train.Keys() {
			if k.Name == key {
				all = append(all, k.Choices...)
			}
		}
	}
	for _, word := range strings.Split(value.Tag.Get(completeTag), ",") {
		if list := completions[word]; list != nil {
			all = append(all, list(c.lab)...)
		} else if word == "commands" {
			all = append(all, c.commands()...)
		} else {
			all = append(all, word)
		}
	}
	if at := strings.LastIndexByte(last, ','); at >= 0 && value.IsSlice() && value.Tag.Sep >= 0 { // one more of a list
		for i, w := range all {
			all[i] = last[:at+1] + w
		}
	}
	return all
}

// commands are the names of all commands, split into words.
func (c *cursor) commands() (words []string) {
	for _, leaf := range c.model.Leaves(true) {
		for _, w := range strings.Fields(leaf.Path()) {
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words
}

func childNamed(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// withPrefix keeps the words with the prefix, sorted. Settings come without values until there is an equals sign.
func withPrefix(words []string, prefix string) []string {
	kept := []string{}
	for _, w := range words {
		key, value, setting := strings.Cut(w, "=")
		if w == "" || !strings.HasPrefix(w, prefix) || setting && value != "" && !strings.HasPrefix(prefix, key+"=") {
			continue
		}
		if setting && value == "" && strings.HasPrefix(prefix, key+"=") { // itself
			continue
		}
		kept = append(kept, w)
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}
