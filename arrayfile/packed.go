package arrayfile

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
)

// A file of any format may be packed as a whole: with gzip, or with zlib, as joblib does. It is unpacked into memory, once.

func isPacked(b []byte) bool { return isGzip(b) || isZlib(b) }

func isGzip(b []byte) bool { return len(b) > 2 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 }

// isZlib reports whether b starts like zlib's data, and not like text that begins with the same letters or a .safetensors whose header has such
// a length.
func isZlib(b []byte) bool {
	return len(b) > 8 && b[0] == 0x78 && (uint(b[0])<<8|uint(b[1]))%31 == 0 && b[1]&0x20 == 0 && binary.LittleEndian.Uint64(b) > maxSafetensorsHeader && !isText(b)
}

// unpackedFile unpacks twice: to learn the size, within what the account leaves, and to keep the bytes.
func unpackedFile(b []byte, account *account) ([]byte, error) {
	open := func() (io.ReadCloser, error) {
		if isGzip(b) {
			return gzip.NewReader(bytes.NewReader(b))
		}
		return zlib.NewReader(bytes.NewReader(b))
	}
	r, err := open()
	if err != nil {
		return nil, cut(err)
	}
	room := min(account.budget.Limit()-account.budget.Used(), int64(len(b))*maxDeflate)
	n, err := io.Copy(io.Discard, io.LimitReader(r, room+1)) // its checksum is compared at the end
	if err != nil {
		return nil, cut(err)
	}
	if err := account.take(n); err != nil {
		return nil, err
	}
	if r, err = open(); err != nil {
		return nil, cut(err)
	}
	out := make([]byte, n)
	_, err = io.ReadFull(r, out)
	return out, err
}
