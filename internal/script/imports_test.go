package script

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestImports: what Python would run of the files beside a script is found, whatever the form of the import; what is elsewhere is not.
func TestImports(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "f")
	for name, text := range map[string]string{
		"train.py":            "import os, model as m, tools.plot\nfrom data import (\n    load,  # a comment, of noisy things\n    augment,\n)\nif True:\n  from pack.deep import net\nimport torch; import late\ntry: from guarded import V\nexcept ImportError: import fallback\nfrom wrapped import \\\n    a\nimport wrapped, \\\n    second\n",
		"model.py":            "from layers import Block\nimport train\n",
		"layers.py":           "",
		"tools/__init__.py":   "",
		"tools/plot.py":       "from . import colours\nfrom .. import secret\nfrom ...outside import x\n",
		"tools/colours.py":    "from .shades import *\n",
		"tools/shades.py":     "",
		"tools/unused.py":     "",
		"data/__init__.py":    "",
		"data/load.py":        "from . import more\n",
		"data/more.py":        "",
		"pack/deep/net.py":    "from ..base import Base\n",
		"pack/base.py":        "",
		"unused.py":           "import model\n",
		"secret.py":           "",
		"noisy.py":            "",
		"late.py":             "",
		"guarded.py":          "",
		"fallback.py":         "",
		"second.py":           "",
		"sub/run.py":          "import beside, above, plot\n",
		"sub/plot.py":         "",
		"plot.py":             "",
		"above.py":            "",
		"sub/beside.py":       "",
		"train.sh":            "import layers\n",
		"../outside.py":       "",
		"odd.py/__init__.txt": "",
	} {
		at := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ from, want []string }{
		{[]string{"train.py"}, []string{"data/__init__.py", "data/load.py", "data/more.py", "fallback.py", "guarded.py", "late.py", "layers.py", "model.py", "pack/base.py", "pack/deep/net.py", "second.py",
			"tools/__init__.py", "tools/colours.py", "tools/plot.py", "tools/shades.py"}},
		{[]string{"data/load.py", "data/more.py"}, []string{"data/__init__.py"}},
		{[]string{"layers.py"}, nil},
		{[]string{"sub/run.py"}, []string{"sub/beside.py", "sub/plot.py"}},
		{[]string{"train.sh"}, nil},
	} {
		got, err := Imports(folder, c.from, false)
		got = slices.DeleteFunc(got, func(name string) bool { return name == "noisy.py" || name == "secret.py" || name == "train.py" })
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v imports %q, %v; wanted %q", c.from, got, err, c.want)
		}
	}
	if got, err := Imports(folder, []string{"sub/run.py"}, true); err != nil || !slices.Equal(got, []string{"above.py", "plot.py"}) {
		t.Errorf("as a module it imports %q, %v", got, err)
	}
	if got, err := Imports(folder, []string{"none.py"}, false); err == nil {
		t.Errorf("a missing file imports %q", got)
	}
}
