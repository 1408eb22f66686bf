package wheel

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"testing"
)

// written is the bytes of the values, one after the other, little-endian.
func written(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// elfProgram is a header of ELF, and of one segment: a program's interpreter, if it is linked to a C library.
func elfProgram(machine uint16, dynamic bool) []byte {
	segment := elf.Prog64{Type: uint32(elf.PT_LOAD)}
	if dynamic {
		segment.Type = uint32(elf.PT_INTERP)
	}
	head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: machine, Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1}
	copy(head.Ident[:], "\x7fELF\x02\x01\x01")
	return written(head, segment)
}

// machoProgram is a header of Mach-O with one load command: the oldest system, or one that says nothing of it (oldest 0).
func machoProgram(cpu, oldest uint32) []byte {
	command := uint32(buildVersion)
	if oldest == 0 {
		command = 0x1b // LC_UUID
	}
	head := macho.FileHeader{Magic: macho.Magic64, Cpu: macho.Cpu(cpu), Type: macho.TypeExec, Ncmd: 1, Cmdsz: 24}
	return written(head, uint32(0), command, uint32(24), uint32(1), oldest, uint32(0), uint32(0))
}

// peProgram is the headers of a Windows program without sections.
func peProgram(machine uint16) []byte {
	dos := make([]byte, 64)
	copy(dos, "MZ")
	dos[0x3c] = 64
	return written(dos, []byte("PE\x00\x00"), pe.FileHeader{Machine: machine}, make([]byte, 64))
}

// TestTagsOfThisTest reads a real program.
func TestTagsOfThisTest(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tags, err := Tags(program)
	want := map[string]string{"linux/amd64": "linux_x86_64 manylinux_2_17_x86_64", "linux/arm64": "linux_aarch64 manylinux_2_17_aarch64",
		"darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64", "windows/amd64": "win_amd64"}[runtime.GOOS+"/"+runtime.GOARCH]
	if want == "" {
		t.Skip("there are no wheels for this platform")
	}
	if err != nil || !strings.Contains(want, tags[0]) {
		t.Errorf("tags %v (%v), want one of %s", tags, err, want)
	}
}
