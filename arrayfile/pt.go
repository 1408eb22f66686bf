package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// PyTorch's files: torch.save writes a zip archive of one pickle and one member per storage; older versions (and
// _use_new_zipfile_serialization=False) write five pickles and then the storages.

// legacyMagic is the first pickle of the older format.
const legacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."

// stored returns the bytes of a storage.
type stored func(storage) ([]byte, error)

// pickleMember finds the pickle of a PyTorch archive, whose folder can have any name.
func pickleMember(members []member) (member, bool) {
	for _, m := range members {
		if folder, ok := strings.CutSuffix(m.Name, "/data.pkl"); ok && !strings.Contains(folder, "/") {
			return m, true
		}
	}
	return member{}, false
}

// parsePT reads an archive, given its pickle.
func parsePT(members []member, pickle member, account *account) ([]entry, error) {
	folder := strings.TrimSuffix(pickle.Name, "data.pkl")
	byName := make(map[string]member, len(members))
	for _, m := range members {
		if _, ok := byName[m.Name]; ok {
			return nil, fmt.Errorf("arrayfile: pt: %q occurs twice", m.Name)
		}
		byName[m.Name] = m
	}
	text, err := pickle.bytes()
	if err != nil {
		return nil, fmt.Errorf("arrayfile: pt: %s: %w", pickle.Name, err)
	}
	big := false
	if m, ok := byName[folder+"byteorder"]; ok {
		order, err := m.bytes()
		if err != nil || string(order) != "little" && string(order) != "big" {
			return nil, errors.Join(fmt.Errorf("arrayfile: pt: byte order %.20q; want little or big", order), err)
		}
		big = string(order) == "big"
	}
	root, n, err := unpickle(text, newArraysDialect(account), account)
	if err == nil && n != len(text) {
		err = fmt.Errorf("pickle: %d bytes follow its end", len(text)-n)
	}
	if err != nil {
		return nil, fmt.Errorf("arrayfile: pt: %w", err)
	}
	entries, err := flatten("", root, big, account, func(s storage) ([]byte, error) {
		m, ok := byName[folder+"data/"+s.key]
		if !ok {
			return nil, fmt.Errorf("the archive has no member %q", folder+"data/"+s.key)
		}
		return m.bytes()
	})
	if err != nil {
		return nil, fmt.Errorf("arrayfile: pt: %w", err)
	}
	return entries, nil
}

// parseLegacyPT reads the older format: magic, version, system, value, keys, then for each key the
// number of elements and the elements.
func parseLegacyPT(b []byte, account *account) ([]entry, error) {
	root, where, err := legacyParts(b, newArraysDialect(account))
	if err != nil {
		return nil, fmt.Errorf("arrayfile: pt: %w", err)
	}
	entries, err := flatten("", root, false, account, func(s storage) ([]byte, error) {
		data, ok := where[s.key]
		if !ok {
			return nil, fmt.Errorf("storage %.40q is missing", s.key)
		}
		return data, nil
	})
	if err != nil {
		return nil, fmt.Errorf("arrayfile: pt: %w", err)
	}
	return entries, nil
}

// legacyParts returns what a file of the older format holds, and where its storages are.
func legacyParts(b []byte, dialect *arraysDialect) (root any, where map[string][]byte, err error) {
	var parts [5]any
	at := 0
	for i := range parts {
		v, n, err := unpickle(b[at:], dialect, dialect.account)
		if err != nil {
			return nil, nil, fmt.Errorf("part %d: %w", i+1, err)
		}
		parts[i] = v
		at += n
	}
	if parts[1] != int64(1001) {
		return nil, nil, fmt.Errorf("version %v of the old format; want 1001", parts[1])
	}
	if system, ok := parts[2].(*dict); !ok || system.get("little_endian") != true {
		return nil, nil, errors.New("the file was written by a big-endian machine in the old format, which is not read; save it again")
	}
	keys, ok := parts[4].(*list)
	if !ok {
		return nil, nil, errors.New("the old format's list of storages is missing")
	}
	where, err = legacyStorages(b, at, keys.items, dialect.storages)
	return parts[3], where, err
}

// storageWithin reads a storage that pickle.dump wrote: a whole file of the older format, in bytes.
func (d *arraysDialect) storageWithin(of any) (any, error) {
	text, ok := of.(string)
	if !ok || d.within || !strings.HasPrefix(text, legacyMagic) {
		return nil, errors.New("a tensor's elements are no file of PyTorch's older format; save it with torch.save")
	}
	inner := newArraysDialect(d.account)
	inner.within = true
	root, where, err := legacyParts(unsafe.Slice(unsafe.StringData(text), len(text)), inner)
	s, ok := root.(storage)
	if err == nil && !ok {
		err = errors.New("a tensor's elements are no storage")
	}
	if err != nil {
		return nil, err
	}
	s.data = where[s.key]
	return s, nil
}

// legacyStorages finds the storages of the older format, which start at byte at of b, in the order of keys.
func legacyStorages(b []byte, at int, keys []any, sizes map[string]int) (map[string][]byte, error) {
	where := map[string][]byte{}
	for _, k := range keys {
		key, _ := k.(string)
		size, ok := sizes[key]
		if _, twice := where[key]; !ok || twice || len(b)-at < 8 {
			return nil, fmt.Errorf("storage %.40q is unknown, occurs twice or is cut short", key)
		}
		n := binary.LittleEndian.Uint64(b[at:])
		at += 8
		if n > uint64(len(b)-at)/uint64(size) {
			return nil, fmt.Errorf("storage %.40q claims %d elements of %d bytes, and %d bytes are left", key, n, size, len(b)-at)
		}
		end := at + int(n)*size
		where[key] = b[at:end:end]
		at = end
	}
	if at != len(b) {
		return nil, fmt.Errorf("%d bytes follow the last storage", len(b)-at)
	}
	return where, nil
}

func (d *dict) get(key string) any {
	for i, k := range d.keys {
		if k == key {
			return d.values[i]
		}
	}
	return nil
}
