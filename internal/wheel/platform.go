package wheel

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"slices"
)

// Tags are the platforms on which a program runs, as Python names them. They are read from the program itself:
//
//   - Linux, x86-64 and arm64: a static program needs no C library, so it goes with glibc from 2.17 (manylinux) and with musl from 1.1
//     (musllinux). One that is linked to the C library of this machine is tagged for this kind of machine alone.
//   - macOS, x86-64 and arm64: the oldest macOS that the program's own header names.
//   - Windows, x86-64.
func Tags(program []byte) ([]string, error) {
	r := bytes.NewReader(program)
	if f, err := elf.NewFile(r); err == nil {
		return linuxTags(f)
	}
	if f, err := macho.NewFile(r); err == nil {
		return macTags(f)
	}
	if f, err := pe.NewFile(r); err == nil {
		if f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
			return nil, fmt.Errorf("wheel: a Windows program for machine %#x; want x86-64 (%#x)", f.Machine, pe.IMAGE_FILE_MACHINE_AMD64)
		}
		return []string{"win_amd64"}, nil
	}
	return nil, errors.New("wheel: the program is neither of Linux (ELF) nor of macOS (Mach-O) nor of Windows (PE)")
}

func linuxTags(f *elf.File) ([]string, error) {
	machine, ok := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[f.Machine]
	if !ok || f.OSABI != elf.ELFOSABI_NONE && f.OSABI != elf.ELFOSABI_LINUX {
		return nil, fmt.Errorf("wheel: an ELF program for %v, %v; want Linux on x86-64 or arm64", f.OSABI, f.Machine)
	}
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return []string{"linux_" + machine}, nil
	}
	return []string{"manylinux_2_17_" + machine, "musllinux_1_1_" + machine}, nil
}

// buildVersion is the load command LC_BUILD_VERSION: command, size, platform, oldest system (16, 8 and 8 bits), …
const buildVersion = 0x32

func macTags(f *macho.File) ([]string, error) {
	machine, ok := map[macho.Cpu]string{macho.CpuAmd64: "x86_64", macho.CpuArm64: "arm64"}[f.Cpu]
	if !ok {
		return nil, fmt.Errorf("wheel: a macOS program for %v; want x86-64 or arm64", f.Cpu)
	}
	for _, load := range f.Loads {
		if raw := load.Raw(); len(raw) >= 16 && f.ByteOrder.Uint32(raw) == buildVersion {
			oldest := f.ByteOrder.Uint32(raw[12:])
			return []string{fmt.Sprintf("macosx_%d_%d_%s", oldest>>16, oldest>>8&0xff, machine)}, nil
		}
	}
	return nil, errors.New("wheel: the macOS program does not say which system it needs (LC_BUILD_VERSION)")
}
