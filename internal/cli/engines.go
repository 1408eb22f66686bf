package cli

import (
	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/python"
)

// engineFlags say where PyTorch computes runs of run.engine = torch.
type engineFlags struct {
	Device []string `aliases:"devices" help:"Device of PyTorch: cpu, cuda:0 or mps; several, separated by commas, share the runs. Default: the first GPU. For run.engine = torch." placeholder:"NAME" group:"PyTorch:"`
	Python string   `help:"Python with PyTorch, a path or a command; default: $COLLAPSE_PYTHON, that of $VIRTUAL_ENV, or python3. For run.engine = torch." placeholder:"COMMAND" group:"PyTorch:"`
}

// engineFlagNames are the names of the flags in engineFlags.
const engineFlagNames = "device python"

// engines is the pool of processes that the flags describe, for the whole command: none starts before a run needs it. perDevice bounds the
// runs side by side on a device; 0: any number.
func (f engineFlags) engines(a *app, perDevice int) *engine.Pool {
	if a.pool == nil {
		p := &engine.Python{Interpreter: f.Python, Files: python.Files(), Version: python.Version()}
		a.pool = &engine.Pool{Launch: p.Launch, Devices: f.Device, PerDevice: perDevice}
	}
	return a.pool
}

// closeEngines ends the processes.
func (a *app) closeEngines() {
	if a.pool != nil {
		a.pool.Close()
	}
}

// idle refuses flags for PyTorch if the run does not use it.
func (f engineFlags) idle(cfg train.Config) error {
	if (len(f.Device) > 0 || f.Python != "") && !cfg.External() {
		return usagef("--device and --python have no effect here: they go with --set run.engine=torch")
	}
	return nil
}
