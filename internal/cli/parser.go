package cli

import (
	"cmp"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/internal/train"
)

// parse reads a call. If its first word is a command, only that command is built, since building all of them takes longer than many
// calls do. A call with an unknown flag is parsed again with all commands, for the message names those that have it.
func parse(flags *program, args []string, stdout, stderr io.Writer) (*kong.Kong, *kong.Context, error) {
	args = joinNegative(args)
	if others := otherCommands(firstWord(args)); others != nil {
		parser := newParser(flags, stdout, stderr, others)
		parsed, err := parser.Parse(args)
		if err == nil || !needsAllCommands(err) {
			return parser, parsed, err
		}
		*flags = program{}
	}
	parser := newParser(flags, stdout, stderr)
	parsed, err := parser.Parse(args)
	return parser, parsed, err
}

// joinNegative writes --flag -3 as --flag=-3, for kong takes the number for a flag: what is wrong with it only the flag's command knows.
func joinNegative(args []string) (joined []string) {
	for i, arg := range args {
		if arg == "--" { // arguments only
			return append(joined, args[i:]...)
		}
		_, err := strconv.ParseFloat(arg, 64)
		before := len(joined) - 1
		if err != nil || arg[0] != '-' || i == 0 || !strings.HasPrefix(args[i-1], "--") || strings.Contains(args[i-1], "=") {
			joined = append(joined, arg)
			continue
		}
		joined[before] += "=" + arg
	}
	return joined
}

// firstWord is what follows the flags that every command has; "" if there may be none.
func firstWord(args []string) string {
	for len(args) > 0 {
		if args[0] == "-q" || args[0] == "-v" {
			args = args[1:]
			continue
		}
		name, isFlag := strings.CutPrefix(args[0], "--")
		if !isFlag {
			return args[0]
		}
		name, _, joined := strings.Cut(name, "=")
		switch {
		case name == "json" || name == "quiet" || name == "verbose", joined && (name == "lab" || name == "threads"):
			args = args[1:]
		case (name == "lab" || name == "threads") && len(args) > 1 && !strings.HasPrefix(args[1], "-"):
			args = args[2:]
		default:
			return ""
		}
	}
	return ""
}

// needsAllCommands reports whether what is said of a refused call depends on commands that it does not name.
func needsAllCommands(err error) bool {
	var refused *kong.ParseError
	return !errors.As(err, &refused) || strings.HasPrefix(err.Error(), unknownFlagError)
}

// otherCommands makes a parser ignore all commands but one. It is nil if the word is not a command, or one that describes all the
// others.
func otherCommands(word string) kong.Option {
	var others []string
	known := false
	for field := range reflect.TypeFor[program]().Fields() {
		if _, isCommand := field.Tag.Lookup("cmd"); !isCommand {
			continue
		}
		if name := cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)); name == word {
			known = name != "help" && name != "completion"
		} else {
			others = append(others, field.Name)
		}
	}
	if !known {
		return nil
	}
	return kong.IgnoreFields(`^program\.(` + strings.Join(others, "|") + `)$`)
}

func newParser(flags *program, stdout, stderr io.Writer, more ...kong.Option) *kong.Kong {
	parser, err := kong.New(flags, append(more,
		kong.Name("collapse"),
		kong.Description("A laboratory for neural collapse: watch it happen, measure it, compare it with theory."),
		kong.ConfigureHelp(helpOptions),
		kong.ValueFormatter(describe),
		kong.Help(printHelp),
		kong.Bind(flags),
		kong.BindToProvider((*app).reader), // for commands that need the lab first
		kong.BindToProvider((*app).openLab),
		kong.PostBuild(nameKinds),
		kong.Writers(stdout, stderr),
		kong.NamedMapper("output", kong.MapperFunc(outputName)),
		kong.Exit(func(code int) { panic(exitRequest(code)) }),
	)...)
	if err != nil {
		panic("cli: the command line's own definition is wrong: " + err.Error())
	}
	return parser
}

// kindWords are the lists of kinds that replace ${networks} and so on in help and flags.
var kindWords = sync.OnceValue(func() *strings.Replacer {
	timed := bench.Nets()
	return strings.NewReplacer(
		"${networks}", kinds.InWords(train.Kinds("net.kind")),
		"${losses}", kinds.InWords(train.Kinds("loss.kind")),
		"${optimisers}", kinds.InWords(train.Kinds("optim.kind")),
		"${bench_nets}", strings.Join(timed, ","),
		"${bench_nets_listed}", strings.Join(timed, ", "),
	)
})

// nameKinds fills in kindWords. As variables of kong's they would cost half of the time that it takes to build a parser, for it
// looks for variables in all their values again for each flag.
func nameKinds(k *kong.Kong) error {
	return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
		if value, ok := at.(*kong.Value); ok {
			value.Help, value.Enum = kindWords().Replace(value.Help), kindWords().Replace(value.Enum)
		}
		return next(nil)
	})
}
