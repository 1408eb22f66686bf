package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// platform is an operating system and a processor, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func platformNames() []string {
	var names []string
	for _, p := range platforms {
		names = append(names, p.String())
	}
	return names
}

func parsePlatforms(list string) ([]platform, error) {
	var found []platform
	for _, name := range strings.Split(list, ",") {
		if name == "host" {
			name = runtime.GOOS + "/" + runtime.GOARCH
		}
		at := slices.Index(platformNames(), name)
		if at < 0 {
			return nil, fmt.Errorf("no release for the platform %q; there are %s, and on others go build ./cmd/collapse may work",
				name, strings.Join(platformNames(), ", "))
		}
		if !slices.Contains(found, platforms[at]) {
			found = append(found, platforms[at])
		}
	}
	return found, nil
}

// program is the file name of the program.
func (p platform) program() string {
	if p.os == "windows" {
		return "collapse.exe"
	}
	return "collapse"
}

// build compiles the program. Whatever in the environment could change its bytes is fixed: no C compiler, the baseline of the processor,
// no folder names, no state of the repository.
//
// sources is the digest by which the program knows that others are of the same sources, whatever their platform.
func build(ctx context.Context, root, sources string, p platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, p.program())
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X collapse.example/collapse/internal/version.sources="+sources, "-o", path, "./cmd/collapse")
	cmd.Dir, cmd.Env = root, p.environment()
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	return os.ReadFile(path)
}

// environment is what the go command reads. No value is empty, since empty ones would be read from Go's own file of settings.
func (p platform) environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-trimpath", "GOWORK=off", "GOFIPS140=off")
}
