package cli

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/judge"
	trainer "collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// withoutOnlyCode leaves out the code of which no two runs of a command have different versions: other scripts have other files.
func withoutOnlyCode(differ []string, settings []map[string]any) []string {
	command := func(own map[string]any) string { return study.SettingText(own["trainer.command"]) }
	return slices.DeleteFunc(slices.Clone(differ), func(key string) bool {
		if !strings.HasPrefix(key, codeKey) {
			return false
		}
		versions := map[string]string{} // of each command; "": none
		for _, own := range settings {
			version := study.SettingText(own[key])
			if was, known := versions[command(own)]; known && was != version {
				return false
			}
			versions[command(own)] = version
		}
		return true
	})
}

// tellingOf are the settings, of those that differ, that are needed to tell runs apart.
func tellingOf(settings []map[string]any, differ []string) []string {
	texts := make([]map[string]string, len(settings))
	for i := range settings {
		texts[i] = map[string]string{}
		for _, key := range differ {
			if v, ok := settings[i][key]; ok {
				texts[i][key] = study.SettingText(v)
			}
		}
	}
	seeded := !slices.ContainsFunc(texts, func(own map[string]string) bool { return own["data.noise_seed"] != own["run.seed"] })
	return judge.Telling(texts, alwaysSaid, slices.DeleteFunc(slices.Clone(differ), func(k string) bool {
		return slices.Contains(alwaysSaid, k) || k == "data.noise_seed" && seeded // the words of a run have its seed
	}))
}

// alwaysSaid are the settings that the words of every training run have, or that have a column of their own; digests add nothing to a name.
var alwaysSaid = []string{"net.kind", "net.depth", "net.width", "data.name", "data.classes", "loss.kind", "run.epochs", "data.train_digest", "data.test_digest"}

// runInWords describes a run: network, data and loss, then the settings that differ between runs and are not at their default.
func runInWords(run store.Run, settings, defaults map[string]any, differ []string) []string {
	if run.Kind == store.Script {
		return scriptInWords(settings, differ)
	}
	if run.Kind != store.Train {
		return []string{strings.TrimSpace(string(run.Kind) + " " + run.Label)}
	}
	text := func(key string) string { return study.SettingText(settings[key]) }
	net := text("net.kind")
	if net == "mlp" {
		net = fmt.Sprintf("mlp %s×%s", text("net.depth"), text("net.width"))
	}
	words := []string{net, text("data.name") + "/" + text("data.classes"), text("loss.kind")}
	var last []string
	for _, key := range differ {
		switch {
		case text(key) == "": // a setting of other runs
		case slices.Contains(alwaysSaid, key) || key == "data.noise_seed" && text(key) == text("run.seed"):
		case key == "run.seed":
			last = append(last, study.InWords([]string{key + "=" + text(key)})...)
		case text(key) == study.SettingText(defaults[key]):
		default:
			words = append(words, study.InWords([]string{key + "=" + text(key)})...)
		}
	}
	return append(words, last...)
}

// scriptInWords describes a run of a script: its command, then its settings that differ, the seed last.
func scriptInWords(settings map[string]any, differ []string) []string {
	command, _ := settings["trainer.command"].([]any)
	words := []string{trainer.Named(command)}
	var last []string
	for _, key := range differ {
		text := study.SettingText(settings[key])
		file, isCode := strings.CutPrefix(key, codeKey)
		switch {
		case isCode && text != "":
			last = append(last, file+" "+text[:min(8, len(text))])
		case text == "" || strings.HasPrefix(key, "trainer.") || key == "run.epochs" || key == "run.horizon":
		case key == "run.seed":
			last = append(last, study.InWords([]string{key + "=" + text})...)
		default:
			if _, isText := settings[key].(string); isText { // which may look like a number
				text = train.Literal(text)
			}
			words = append(words, study.InWords([]string{key + "=" + text})...)
		}
	}
	return append(words, last...)
}
