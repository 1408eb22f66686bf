// Command release builds what a release consists of: for each platform an archive and a Python wheel, then checksums and release notes. It
// needs Go, the checkout and its modules, and no network. The same checkout and the same Go give the same bytes in any folder.
//
//	go run ./internal/release                                    everything, into dist
//	go run ./internal/release -platforms host -make wheels       a wheel for this machine
//	go run ./internal/release -platforms linux/amd64 -make image what deploy/Containerfile puts into an image
//
// Open build.go for how programs are compiled, archive.go, image.go and notes.go for the rest; package wheel makes the wheels.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/internal/wheel"
)

var kinds = []string{"archives", "wheels", "notes", "image"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one call of the command.
type release struct {
	root, out    string // the checkout, and the folder for what is made
	sources      string // a digest of what is compiled
	platforms    []platform
	kinds        []string
	certificates string
	log          io.Writer

	sums []string // lines of SHA256SUMS
}

func run(ctx context.Context, args []string, log io.Writer) error {
	r, err := parse(ctx, args, log)
	if err != nil {
		return err
	}
	if r.makes("notes") {
		if err := r.notes(); err != nil {
			return err
		}
	}
	if r.makesPrograms() {
		if r.sources, err = sourcesOf(ctx, r.root); err != nil {
			return err
		}
	}
	for _, p := range r.platforms {
		if err := r.platform(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	slices.SortFunc(r.sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) }) // by name
	return outfile.Write(filepath.Join(r.out, "SHA256SUMS"), []byte(strings.Join(r.sums, "")))
}

func parse(ctx context.Context, args []string, log io.Writer) (*release, error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", "dist", "the `folder` for what is made")
	names := flags.String("platforms", strings.Join(platformNames(), ","), "for which `platforms`; host is this machine's")
	kind := flags.String("make", "archives,wheels,notes", "what to make, of "+strings.Join(kinds, ", "))
	certificates := flags.String("certificates", "", "`file` of CA certificates for the image (default: this machine's)")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	r := &release{out: *out, kinds: strings.Split(*kind, ","), certificates: *certificates, log: log}
	for _, k := range r.kinds {
		if !slices.Contains(kinds, k) {
			return nil, fmt.Errorf("-make %q; want some of %s", k, strings.Join(kinds, ", "))
		}
	}
	if r.certificates != "" && !r.makes("image") {
		return nil, fmt.Errorf("-certificates has an effect with -make image alone")
	}
	var err error
	if r.platforms, err = parsePlatforms(*names); err != nil {
		return nil, err
	}
	found, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	r.root = strings.TrimSpace(string(found))
	if err != nil || r.root == "" {
		return nil, fmt.Errorf("go list -m: no checkout here (%w); run it in one", err)
	}
	return r, nil
}

func (r *release) makes(kind string) bool { return slices.Contains(r.kinds, kind) }

func (r *release) makesPrograms() bool {
	return slices.ContainsFunc(r.kinds, func(k string) bool { return k != "notes" })
}

// platform makes what is asked for one platform.
func (r *release) platform(ctx context.Context, p platform) error {
	if !r.makesPrograms() {
		return nil
	}
	program, err := build(ctx, r.root, r.sources, p)
	if err != nil {
		return err
	}
	if r.makes("archives") {
		if err := r.archive(p, program); err != nil {
			return err
		}
	}
	if r.makes("image") && p.os == "linux" {
		if err := r.image(p, program); err != nil {
			return err
		}
	}
	if !r.makes("wheels") {
		return nil
	}
	sources, err := wheel.Read(filepath.Join(r.root, "python"))
	if err != nil {
		return err
	}
	name, data, err := wheel.Pack(sources, version.Version, program)
	if err != nil {
		return err
	}
	return r.write(name, data)
}

// write makes a file of the release and notes its checksum.
func (r *release) write(name string, data []byte) error {
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	r.sums = append(r.sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name))
	fmt.Fprintf(r.log, "%9d bytes  %s\n", len(data), path)
	return outfile.Write(path, data)
}
