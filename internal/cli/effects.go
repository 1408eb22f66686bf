package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// effect says when flags do something. A call that gives one of them while holds is false is wrong: the user expects something that
// would not happen.
type effect struct {
	flags string // names without dashes, separated by blanks; after "but", the command's own flags except those
	holds bool
	needs string // what they need to have an effect, such as "goes with --trace"
}

// isAbout reports whether an effect covers a flag of the command.
func (e effect) isAbout(flag *kong.Flag, own []*kong.Flag) bool {
	rest, others := strings.CutPrefix(e.flags, "but ")
	return slices.Contains(strings.Fields(rest), flag.Name) != others && (!others || slices.Contains(own, flag))
}

// judged is a command with flags that do something in some calls only. Its effects are asked for once all flags have their values.
type judged interface{ effects() []effect }

// refuseIdle refuses flags that have no effect in a call. Values that contradict each other are the command's own business.
func refuseIdle(call *kong.Context) error {
	command, ok := call.Selected().Target.Addr().Interface().(judged)
	if !ok {
		return nil
	}
	var wrong []error
	effects := command.effects()
	for _, flag := range given(call) {
		for _, e := range effects {
			if !e.holds && e.isAbout(flag, call.Selected().Flags) {
				wrong = append(wrong, fmt.Errorf("--%s has no effect here: it %s", flag.Name, e.needs))
				break
			}
		}
	}
	if len(wrong) > 0 {
		return usageError{errors.Join(wrong...)}
	}
	return nil
}

// given lists the flags of a call in order, each once.
func given(call *kong.Context) []*kong.Flag {
	var flags []*kong.Flag
	for _, at := range call.Path {
		if at.Flag != nil && !at.Resolved && !slices.Contains(flags, at.Flag) {
			flags = append(flags, at.Flag)
		}
	}
	return flags
}
