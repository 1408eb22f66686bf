package queue

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/jail"
)

// TokenFile reads a token from a file. With create, a missing file is created with a new random token that only its owner can read.
func TokenFile(path string, create bool) (string, error) {
	text, err := inputfile.Read(path, inputfile.Line)
	if create && errors.Is(err, os.ErrNotExist) {
		token := newToken()
		return token, writeToken(path, token)
	}
	if err != nil {
		return "", fmt.Errorf("queue: the token: %w", err)
	}
	return parseToken(path, text)
}

func parseToken(path string, text []byte) (string, error) {
	token := strings.TrimSpace(string(text))
	if len(token) < 16 || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("queue: %s holds no token: wanted one line of at least 16 characters", path)
	}
	return token, nil
}

func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// writeToken makes a file that must not exist, durably: workers that have the token keep it while the coordinator is away.
func writeToken(path, text string) error {
	err := makeFolders(filepath.Dir(path))
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err == nil {
		_, err = io.WriteString(f, text+"\n")
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		err = syncFolder(os.Open(filepath.Dir(path)))
	}
	if err != nil {
		return fmt.Errorf("queue: the token: %w", err)
	}
	return nil
}

// labToken is where a lab keeps its token, for people to copy.
const labToken = "queue.token"

// LabToken returns the token of a lab, and the file in the lab that holds it. A token counts only if this user's configuration has its
// digest for this lab: one that came with the lab, or that somebody else put there, is replaced by a new one (replaced).
func LabToken(lab string) (token, path string, replaced bool, err error) {
	path = filepath.Join(lab, labToken)
	record, err := tokenRecord(lab)
	if err != nil {
		return "", path, false, fmt.Errorf("queue: the token: %w; name a file for it with --token-file", err)
	}
	text, err := readInLab(lab)
	if err == nil {
		if known, _ := inputfile.Read(record, inputfile.Line); strings.TrimSpace(string(known)) == digest(text) {
			token, err = parseToken(path, text)
			return token, path, false, err
		}
		replaced = true
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", path, false, fmt.Errorf("queue: the token: %w", err)
	}
	token = newToken()
	// The record comes last: a process that is killed before it leaves a token that does not count.
	for _, old := range []string{path, record} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", path, false, fmt.Errorf("queue: the token: %w", err)
		}
	}
	return token, path, replaced, errors.Join(writeToken(path, token), writeToken(record, digest([]byte(token))))
}

func readInLab(lab string) ([]byte, error) {
	f, err := jail.Open(lab, labToken, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, inputfile.Line))
}

// digest identifies a token.
func digest(text []byte) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(string(text))))
	return hex.EncodeToString(sum[:])
}

// tokenRecord is the file outside of a lab that has the digest of its token.
func tokenRecord(lab string) (string, error) {
	abs, err := filepath.Abs(lab)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil { // a lab that does not exist yet has no token either
		abs = real
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(config, "collapse", "tokens", digest([]byte(abs))), nil
}
