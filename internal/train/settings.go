package train

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"collapse.example/collapse/internal/spelling"
)

//go:embed settings/*.toml
var settingFiles embed.FS

// SettingInfo is an experiment of a paper as a configuration to start from. If a paper and its released code differ, there are two.
type SettingInfo struct {
	Name  string `json:"name"`
	About string `json:"about"` // whose setting it is, and what to know about it
}

// Settings lists the settings by name.
func Settings() []SettingInfo {
	entries, err := settingFiles.ReadDir("settings")
	if err != nil {
		panic("train: the settings are not in the program")
	}
	var list []SettingInfo
	for _, e := range entries {
		var about []string
		for line := range strings.Lines(settingText(e.Name())) {
			if comment, ok := strings.CutPrefix(line, "# "); ok {
				about = append(about, strings.TrimSpace(comment))
				continue
			}
			break
		}
		list = append(list, SettingInfo{strings.TrimSuffix(e.Name(), ".toml"), strings.Join(about, " ")})
	}
	return list
}

func settingText(file string) string {
	text, err := settingFiles.ReadFile(path.Join("settings", file))
	if err != nil {
		panic("train: a setting is not in the program")
	}
	return string(text)
}

// Setting returns the configuration of a setting. For an unknown name, the error suggests the nearest one.
func Setting(name string) (Config, error) {
	best, distance := "", 4
	for _, s := range Settings() {
		if s.Name == name {
			return Load(name+".toml", []byte(settingText(name+".toml")))
		}
		if d := spelling.Distance(name, s.Name); d < distance {
			best, distance = s.Name, d
		}
	}
	if best != "" {
		return Config{}, fmt.Errorf("train: no setting is called %q; did you mean %s?", name, best)
	}
	return Config{}, fmt.Errorf("train: no setting is called %q; collapse train --list-settings lists them", name)
}
