package queue

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"collapse/internal/inputfile"
)

// TokenFile reads a token from a file. With create, a missing file is created with a new random token that only its owner can read.
func TokenFile(path string, create bool) (string, error) {
	text, err := inputfile.Read(path, inputfile.Line)
	if create && errors.Is(err, os.ErrNotExist) {
		return newToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("queue: the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 16 || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("queue: %s holds no token: wanted one line of at least 16 characters", path)
	}
	return token, nil
}

func newToken(path string) (string, error) {
	var b [32]byte
	rand.Read(b[:]) // never fails
	token := hex.EncodeToString(b[:])
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", fmt.Errorf("queue: the token: %w", err)
	}
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("queue: the token: %w", err)
	}
	return token, nil
}
