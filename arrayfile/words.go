package arrayfile

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"
)

// wordNumbers finds the distinct texts of a column, in the order in which they appear, and numbers the rows by them.
type wordNumbers struct {
	account *account
	seen    map[string]uint64
	words   []string
	codes   []byte // I64 for each row
}

// start forgets what was seen and expects n rows.
func (w *wordNumbers) start(n int) error {
	*w = wordNumbers{account: w.account, seen: map[string]uint64{}}
	return w.account.take(8 * int64(n))
}

func (w *wordNumbers) see(text []byte) error {
	code, known := w.seen[string(text)]
	if !known {
		if !utf8.Valid(text) {
			return errors.New("bytes that are not UTF-8 text")
		}
		if err := w.account.take(int64(len(text)) + wordMemory); err != nil {
			return err
		}
		word := strings.Clone(string(text))
		code = uint64(len(w.words))
		w.seen[word], w.words = code, append(w.words, word)
	}
	w.codes = binary.LittleEndian.AppendUint64(w.codes, code)
	return nil
}
