package wheel

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// metadataText is METADATA, version 2.1 of the core metadata: headers, then the description.
func metadataText(s *Sources, version string) ([]byte, error) {
	p := s.project
	headers := [][2]string{
		{"Metadata-Version", "2.1"}, {"Name", p.Name}, {"Version", version}, {"Summary", p.Description},
		{"Keywords", strings.Join(p.Keywords, ",")}, {"License", p.License.Text},
	}
	for _, c := range p.Classifiers {
		headers = append(headers, [2]string{"Classifier", c})
	}
	headers = append(headers, [2]string{"Requires-Python", p.RequiresPython})
	for _, d := range p.Dependencies {
		headers = append(headers, [2]string{"Requires-Dist", d})
	}
	for _, extra := range slices.Sorted(maps.Keys(p.OptionalDependencies)) {
		headers = append(headers, [2]string{"Provides-Extra", extra})
		for _, d := range p.OptionalDependencies[extra] {
			headers = append(headers, [2]string{"Requires-Dist", fmt.Sprintf("%s; extra == '%s'", d, extra)})
		}
	}
	headers = append(headers, [2]string{"Description-Content-Type", "text/markdown"})
	var b bytes.Buffer
	for _, h := range headers {
		if strings.ContainsAny(h[1], "\r\n") {
			return nil, fmt.Errorf("pyproject.toml: %s has more than one line: %q", h[0], h[1])
		}
		if h[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", h[0], h[1])
		}
	}
	b.WriteString("\n")
	b.Write(s.readme)
	return b.Bytes(), nil
}

func wheelText(version string, tags []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Wheel-Version: 1.0\nGenerator: collapse %s\nRoot-Is-Purelib: false\n", version)
	for _, tag := range tags {
		fmt.Fprintf(&b, "Tag: py3-none-%s\n", tag)
	}
	return b.Bytes()
}

func entryPoints(scripts map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString("[console_scripts]\n")
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		fmt.Fprintf(&b, "%s = %s\n", name, scripts[name])
	}
	return b.Bytes()
}

var semver = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?$`)

// publicVersion writes a version of semver.org as Python does (PEP 440): 1.2.0-rc.1 is 1.2.0rc1.
func publicVersion(version string) (string, error) {
	m := semver.FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("wheel: version %q; want X.Y.Z, or X.Y.Z-alpha.N, -beta.N or -rc.N", version)
	}
	return m[1] + map[string]string{"": "", "alpha": "a", "beta": "b", "rc": "rc"}[m[2]] + m[3], nil
}
