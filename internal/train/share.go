package train

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/nn"
)

// Runs that PyTorch can compute in one batch. docs/internal/engines.md has the table of what must be alike.

// Shares reports whether a run can be a member of an ensemble.
func (c Config) Shares() bool {
	return c.External() && c.Net.Kind == nn.KindMLP && (c.Optim.Kind == "sgd" || c.Optim.Kind == "adam")
}

// Shape is equal for configurations that differ only in settings that change no shape.
func Shape(c Config) string {
	c.Run.Seed, c.Data.Noise, c.Data.NoiseSeed, c.Optim.LR, c.Optim.WeightDecay = 1, 0, 0, 0.1, 0
	c.Loss = Default().Loss
	return Changes(c)
}

// On a processor a batch of several runs saves time as long as a step is mostly overhead: up to this many multiply-adds, forward, of one run.
const smallStep = 16 << 20

// Members is how many runs like o share a batch on a device, at most. All of them have to fit into half of its memory.
func (o Outlook) Members(device engine.Device, most int) int {
	if device.Name == "cpu" && o.MACs*int64(o.Batch) > smallStep {
		return 1
	}
	members := most
	for members > 1 && device.Bytes > 0 && int64(members)*o.Memory.Total() > device.Bytes/2 {
		members /= 2
	}
	return max(1, members)
}

// wants says what a run needs of a process. One that has been begun keeps the number of members, because its bits depend on it.
func (x *external[T]) wants(c Plan, in inputs, opts Options) (engine.Want, error) {
	if !c.Shares() || opts.Engines == nil || max(opts.Ensemble.Members, opts.Ensemble.before) < 2 || opts.Ensemble.before == 1 {
		return engine.Want{}, nil
	}
	o, err := c.outlook(in.sizes())
	if err != nil {
		return engine.Want{}, err
	}
	members := func(d engine.Device) int { return o.Members(d, opts.Ensemble.Members) }
	if opts.Ensemble.Exactly {
		members = func(engine.Device) int { return opts.Ensemble.Members }
	}
	if before := opts.Ensemble.before; before > 0 {
		members = func(engine.Device) int { return before }
	}
	key, err := x.key(c, in)
	return engine.Want{Members: members, Key: key}, err
}

// key is equal for runs that can share a batch: of the same network, data of the same sizes, and the same kinds of everything. Seeds, labels,
// losses, rates, schedules, decay and lengths may differ.
func (x *external[T]) key(c Plan, in inputs) (string, error) {
	info, on := x.witness.traceInfo(), in.sizes()
	text, err := json.Marshal([]any{info.Net, info.Classes, info.Decay.Kind, c.Decay.InLoss, info.Optim.Kind, info.Optim.Nesterov, info.Optim.Momentum > 0,
		on.train, on.test, on.held, c.batch(on), c.Data.Augment, c.Run.DType, c.Run.Precision, x.frozen(), x.taps, c.Run.TapPool})
	return string(text), err
}

// frozen names the parameters that are not trained.
func (x *external[T]) frozen() []string {
	names := []string{}
	for _, p := range x.witness.net.Params() {
		if p.Frozen {
			names = append(names, p.Name)
		}
	}
	return names
}

// membersBefore is how many members the runs with these hashes have been computed with: what the newest checkpoint of the first that has one
// says. 0: there is none.
func membersBefore(lab *store.Reader, hashes ...string) int {
	for _, hash := range hashes {
		if hash == "" {
			continue
		}
		dir := rundir.Dir(lab.RunDir(hash))
		c := &checkpoints{Writer: dir.Writer(nil), run: hash}
		if epoch := dir.NewestCheckpoint(math.MaxInt); epoch > 0 {
			if st, err := c.readState(epoch); err == nil {
				return membersIn(st.Machine)
			}
		}
	}
	return 0
}

// membersIn is the number at the end of what an engine says of its machine; 1 if there is none.
func membersIn(m Machine) int {
	_, last, found := strings.Cut(m.Kernel, ", members ")
	if n, err := strconv.Atoi(last); found && err == nil && n > 0 && n <= mostMembers {
		return n
	}
	return 1
}

const mostMembers = 1024
