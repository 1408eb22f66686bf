package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"collapse.example/collapse/internal/rundir"
)

// digestField is the form in which state.json has its digest. The digest is of the file's bytes with this field empty.
func digestField(digest string) []byte { return []byte(`"digest": "` + digest + `"`) }

// encode writes state.json.
func (st state) encode() ([]byte, error) {
	st.Digest = ""
	text, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rundir.State, err)
	}
	text = append(text, '\n')
	sum := sha256.Sum256(text)
	return bytes.Replace(text, digestField(""), digestField(hex.EncodeToString(sum[:])), 1), nil
}

// decodeState reads state.json and refuses one that is not byte for byte what encode wrote. Files of format 1, which had no digest,
// are accepted as they are.
func decodeState(text []byte) (state, error) {
	var st state
	if err := json.Unmarshal(text, &st); err != nil {
		return st, fmt.Errorf("%s: %w", rundir.State, err)
	}
	switch {
	case st.Format != 1 && st.Format != stateFormat:
		return st, fmt.Errorf("%s has format %d; this program reads 1 to %d", rundir.State, st.Format, stateFormat)
	case st.Format == 1 && st.Digest == "":
		return st, nil
	}
	empty := bytes.Replace(text, digestField(st.Digest), digestField(""), 1)
	if sum := sha256.Sum256(empty); st.Digest == "" || hex.EncodeToString(sum[:]) != st.Digest {
		return st, fmt.Errorf("%s: its content (%d bytes) is not what was written: the digests differ", rundir.State, len(text))
	}
	return st, nil
}
