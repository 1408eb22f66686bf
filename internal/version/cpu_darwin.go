package version

import "golang.org/x/sys/unix"

func systemCPUName() string {
	name, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return name
}
