// Package wheel packs the program and its Python package into a wheel, the archive that pip installs. The same sources and the same
// program give the same bytes.
//
// Open sources.go for what is read of the folder python, platform.go for the tags, metadata.go for what pip reads, zip.go for the archive.
package wheel

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// Pack returns the wheel of the sources with the program inside, and its file name. The tags are read from the program.
// version is one of semver.org.
func Pack(s *Sources, version string, program []byte) (name string, wheel []byte, err error) {
	tags, err := Tags(program)
	if err != nil {
		return "", nil, err
	}
	public, err := publicVersion(version)
	if err != nil {
		return "", nil, err
	}
	metadata, err := metadataText(s, public)
	if err != nil {
		return "", nil, err
	}
	stem := strings.ReplaceAll(s.project.Name, "-", "_") + "-" + public
	info := stem + ".dist-info/"
	files := append(slices.Clone(s.modules), File{Name: programName(tags), Data: program, Executable: true})
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	files = append(files,
		File{Name: info + "LICENSE", Data: s.license},
		File{Name: info + "METADATA", Data: metadata},
		File{Name: info + "WHEEL", Data: wheelText(version, tags)},
		File{Name: info + "entry_points.txt", Data: entryPoints(s.project.Scripts)},
	)
	files = append(files, File{Name: info + "RECORD", Data: record(files, info+"RECORD")})
	var out bytes.Buffer
	if err := WriteZip(&out, files); err != nil {
		return "", nil, err
	}
	return stem + "-py3-none-" + strings.Join(tags, ".") + ".whl", out.Bytes(), nil
}

// programName is the program's place in the Python package, which collapse/_program.py knows, too.
func programName(tags []string) string {
	if strings.HasPrefix(tags[0], "win") {
		return "collapse/bin/collapse.exe"
	}
	return "collapse/bin/collapse"
}

// record lists every file with its digest and size; itself, at self, without.
func record(files []File, self string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.Data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.Data))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}
