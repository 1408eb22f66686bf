package wheel

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/inputfile"
)

// Sources are what a wheel holds beside the program.
type Sources struct {
	project         project
	readme, license []byte
	modules         []File
}

// project is the table [project] of pyproject.toml (PEP 621), as far as it is used.
type project struct {
	Name        string
	Dynamic     []string
	Description string
	Readme      string
	License     struct{ Text string }
	Keywords    []string
	Classifiers []string

	RequiresPython       string `toml:"requires-python"`
	Dependencies         []string
	OptionalDependencies map[string][]string `toml:"optional-dependencies"`
	Scripts              map[string]string
}

// Read reads the folder python of a checkout: pyproject.toml, what it names, and the LICENSE beside the folder.
func Read(dir string) (*Sources, error) {
	text, err := inputfile.Read(filepath.Join(dir, "pyproject.toml"), inputfile.Text)
	if err != nil {
		return nil, fmt.Errorf("%w; want the folder python of a checkout", err)
	}
	var file struct {
		BuildSystem map[string]any `toml:"build-system"`
		Project     project
		Tool        struct{ Collapse struct{ Packages []string } }
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "pyproject.toml"), err)
	}
	s := &Sources{project: file.Project}
	if s.readme, err = inputfile.Read(filepath.Join(dir, file.Project.Readme), inputfile.Text); err != nil {
		return nil, err
	}
	if s.license, err = inputfile.Read(filepath.Join(dir, "..", "LICENSE"), inputfile.Text); err != nil {
		return nil, fmt.Errorf("%w; was the folder copied out of its checkout, as pip before 21.3 does?", err)
	}
	for _, name := range file.Tool.Collapse.Packages {
		if err := s.addPackage(dir, name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addPackage takes the files of a package: not what Python or an editor leaves there, nor a program from elsewhere.
func (s *Sources) addPackage(dir, name string) error {
	return filepath.WalkDir(filepath.Join(dir, name), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		inside = filepath.ToSlash(inside)
		if e.IsDir() {
			if e.Name() == "__pycache__" || strings.HasPrefix(e.Name(), ".") || inside == "collapse/bin" {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "~") || strings.HasSuffix(e.Name(), ".pyc") {
			return nil
		}
		if !e.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file; a wheel holds nothing else", path)
		}
		data, err := inputfile.Read(path, inputfile.Bundle)
		s.modules = append(s.modules, File{Name: inside, Data: data})
		return err
	})
}
