package train

import (
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/version"
)

// Machine is what the bits of a run depend on besides its configuration and the program's version.
type Machine struct {
	Kernel  string `json:"kernel"`
	GOARCH  string `json:"goarch"`
	GOAMD64 string `json:"goamd64"` // empty on other architectures
}

func (m Machine) String() string {
	s := "kernel " + m.Kernel + " on " + m.GOARCH
	if m.GOAMD64 != "" {
		s += " " + m.GOAMD64
	}
	return s
}

// ThisMachine describes the running program.
func ThisMachine() Machine {
	b := version.Current()
	return Machine{Kernel: isa.Name(), GOARCH: b.Arch, GOAMD64: b.AMD64}
}
