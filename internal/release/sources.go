package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sourcesOf is a digest of all that programs for any platform are compiled from: files of this module, and go.mod and go.sum, which
// name all others. It is the same whatever platforms are asked for.
func sourcesOf(ctx context.Context, root string) (string, error) {
	names := []string{"go.mod", "go.sum"}
	for _, p := range platforms {
		more, err := p.sources(ctx, root)
		if err != nil {
			return "", err
		}
		names = append(names, more...)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range slices.Compact(names) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sources lists the files of this module that the program for a platform is compiled from.
func (p platform) sources(ctx context.Context, root string) (names []string, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Module,GoFiles,SFiles,HFiles,EmbedFiles", "./cmd/collapse")
	cmd.Dir, cmd.Env = root, p.environment()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			Dir                                 string
			Module                              *struct{ Main bool }
			GoFiles, SFiles, HFiles, EmbedFiles []string
		}
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			return names, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if pkg.Module == nil || !pkg.Module.Main {
			continue
		}
		below, err := filepath.Rel(root, pkg.Dir)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Concat(pkg.GoFiles, pkg.SFiles, pkg.HFiles, pkg.EmbedFiles) {
			names = append(names, filepath.ToSlash(filepath.Join(below, name)))
		}
	}
}
