package arrayfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// fileFormat is a kind of file: what names of its files end in, how it is recognised, and how it is read.
type fileFormat struct {
	endings []string // the first stands for the format; nil: those of another row
	is      func(b []byte) bool
	parse   func(f *File, b []byte, account *account) error
}

// fileFormats are what files are recognised as, in this order. The endings are what a browser offers, and what users are told.
var fileFormats = []fileFormat{
	{[]string{".npy"}, begins(npyMagic), entriesBy(parseBareNPY)},
	{[]string{".npz"}, begins("PK"), entriesBy(parseZip)},
	{[]string{".pt", ".pth"}, begins(legacyMagic), entriesBy(parseLegacyPT)},
	{[]string{".parquet"}, begins(parquetMagic), entriesBy(parseParquet)},
	{[]string{".arrow", ".feather"}, isArrow, entriesBy(parseArrow)},
	{[]string{".h5", ".hdf5"}, isHDF5, entriesBy(parseHDF5)},
	{[]string{".mat"}, isMAT, entriesBy(parseMAT)},
	{[]string{".safetensors"}, func(b []byte) bool { return len(b) > 8 && b[8] == '{' }, func(f *File, b []byte, _ *account) (err error) {
		f.entries, f.Metadata, err = safetensorsEntries(b)
		return err
	}},
	{[]string{".pkl", ".joblib"}, func(b []byte) bool { return len(b) > 2 && b[0] == 0x80 && b[1] <= 5 }, func(f *File, b []byte, account *account) (err error) {
		if f.entries, err = pickleEntries("", b, account); err != nil {
			err = fmt.Errorf("arrayfile: %w", err)
		}
		return err
	}},
	{nil, isMAT4, entriesBy(parseMAT4)},
	{[]string{".json", ".jsonl", ".ndjson"}, isJSON, entriesBy(parseJSON)},
	{[]string{".csv", ".tsv", ".txt"}, func(b []byte) bool { return isText(b) && b[0] != '<' }, entriesBy(parseTable)},
}

// packed are the endings of packed files of any format.
var packed = []string{".gz"}

// begins recognises files by their first bytes.
func begins(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

// entriesBy is the parse of a format that has arrays alone.
func entriesBy(parse func([]byte, *account) ([]entry, error)) func(*File, []byte, *account) error {
	return func(f *File, b []byte, account *account) (err error) {
		f.entries, err = parse(b, account)
		return err
	}
}

// shown has one ending of each format, every has all. They are set by init: parsers name the formats, which name the parsers.
var shown, every []string

func init() {
	for _, f := range fileFormats {
		if f.endings != nil {
			shown, every = append(shown, f.endings[0]), append(every, f.endings...)
		}
	}
	every = append(every, packed...)
}

// Endings are the endings of names of files that Open reads, packed ones too.
func Endings() []string { return slices.Clone(every) }

// Formats names the formats in words: .npy, .npz and others.
func Formats() string {
	last := len(shown) - 1
	return strings.Join(shown[:last], ", ") + " and " + shown[last]
}
