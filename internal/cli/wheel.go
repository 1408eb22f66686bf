package cli

import (
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/internal/wheel"
)

// wheelCmd is hidden: pip calls it, through python/build_backend.py, where no Go is installed.
type wheelCmd struct {
	Sources string `help:"Folder python of a checkout." default:"./python" type:"existingdir" placeholder:"DIR"`
	Out     string `help:"Where to write: a folder for the wheel." default:"." type:"existingdir" placeholder:"DIR"`
}

func (wheelCmd) Help() string {
	return `Packs this program and the Python package into a wheel for this kind of machine. docs/install.md says how wheels are made and used.`
}

// ownProgram is a variable for tests, whose own program is large.
var ownProgram = os.Executable

func (c *wheelCmd) Run(a *app) error {
	sources, err := wheel.Read(c.Sources)
	if err != nil {
		return err
	}
	self, err := ownProgram()
	if err != nil {
		return err
	}
	program, err := inputfile.Read(self, inputfile.Record)
	if err != nil {
		return err
	}
	name, data, err := wheel.Pack(sources, version.Version, program)
	if err != nil {
		return err
	}
	path := filepath.Join(c.Out, name)
	if err := outfile.Write(path, data); err != nil {
		return err
	}
	return a.emit(map[string]string{"wheel": path}, func() { a.printf("%s\n", path) })
}
