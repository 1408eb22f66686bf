package train

import (
	"slices"
	"strings"
)

// Key describes a key of the configuration for help, completion and documentation.
type Key struct {
	Name    string   // section.key
	Doc     string   // one line
	Choices []string // allowed values; nil: not a fixed set of words
	Default string   // in the form that --set takes
}

// Keys lists every key in the order of PrintConfig.
func Keys() []Key {
	var keys []Key
	for _, f := range writtenDefaults() {
		k := Key{Name: f.key, Doc: f.doc, Choices: f.choices, Default: f.text()}
		if text, ok := f.value().(string); ok {
			k.Default = text // without its quotes
		}
		if _, ok := f.value().(bool); ok {
			k.Choices = []string{"true", "false"}
		}
		keys = append(keys, k)
	}
	return keys
}

// Idle lists the keys of settings ("key=value") that have no effect in any of the configurations, each once.
func Idle(settings []string, configs []Config) []Unused {
	var idle []Unused
	for i, c := range configs {
		unused := c.Unused()
		if i == 0 {
			for _, u := range unused {
				if slices.ContainsFunc(settings, func(s string) bool { return settingKey(s) == u.Key }) {
					idle = append(idle, u)
				}
			}
		}
		idle = slices.DeleteFunc(idle, func(u Unused) bool { return !slices.Contains(unused, u) })
		if len(idle) == 0 {
			return nil
		}
	}
	return idle
}

func settingKey(setting string) string {
	key, _, _ := strings.Cut(setting, "=")
	return strings.TrimSpace(key)
}

// SettingsOf writes c's values of some keys as settings, "key=value", with the value as TOML.
func (c Config) SettingsOf(keys []string) []string {
	texts := map[string]string{}
	for _, f := range c.fields() {
		texts[f.key] = f.text()
	}
	var settings []string
	for _, key := range keys {
		settings = append(settings, key+"="+texts[key])
	}
	return settings
}

// DefaultOf is the default of a key in the form that --set takes; "" for an unknown key.
func DefaultOf(name string) string {
	for _, k := range Keys() {
		if k.Name == name {
			return k.Default
		}
	}
	return ""
}
