package cli

import (
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/version"
)

type versionCmd struct{}

func (versionCmd) Run(a *app) error {
	out := struct {
		version.Build
		Kernel string `json:"kernel"`
		CPU    string `json:"cpu"`
	}{version.Current(), isa.Name(), version.CPU()}
	return a.emit(out, func() {
		amd64 := ""
		if out.AMD64 != "" {
			amd64 = " (" + out.AMD64 + ")"
		}
		a.printf("collapse %s\nbuild %s\n%s %s/%s%s\nkernel %s on %s\n",
			out.Version, out.ID, out.Go, out.OS, out.Arch, amd64, out.Kernel, out.CPU)
	})
}
