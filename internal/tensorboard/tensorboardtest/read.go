// Package tensorboardtest reads event files back in tests: a second, slow implementation of records, checksums and
// messages that shares nothing with the writer.
package tensorboardtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// CRC is CRC-32C bit by bit.
func CRC(b []byte) uint32 {
	sum := ^uint32(0)
	for _, v := range b {
		sum ^= uint32(v)
		for range 8 {
			if sum&1 == 1 {
				sum = sum>>1 ^ 0x82f63b78
			} else {
				sum >>= 1
			}
		}
	}
	return ^sum
}

func slowMask(b []byte) uint32 {
	sum := CRC(b)
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// records takes a file apart and checks both checksums of every record.
func records(b []byte) ([][]byte, error) {
	var out [][]byte
	for len(b) > 0 {
		if len(b) < 16 {
			return nil, errors.New("a broken frame")
		}
		n := binary.LittleEndian.Uint64(b)
		if binary.LittleEndian.Uint32(b[8:]) != slowMask(b[:8]) || uint64(len(b)) < 16+n {
			return nil, fmt.Errorf("a length of %d and its checksum disagree", n)
		}
		data := b[12 : 12+n]
		if binary.LittleEndian.Uint32(b[12+n:]) != slowMask(data) {
			return nil, errors.New("data and checksum disagree")
		}
		out, b = append(out, data), b[16+n:]
	}
	return out, nil
}

// field is one field of a protocol buffer message: a number for wire types 0, 1 and 5, else bytes.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

func fields(b []byte) (out []field, err error) {
	varint := func() (v uint64) {
		for shift := 0; len(b) > 0; shift += 7 {
			c := b[0]
			b = b[1:]
			v |= uint64(c&127) << shift
			if c < 128 {
				return v
			}
		}
		err = errors.New("a broken varint")
		return 0
	}
	for len(b) > 0 && err == nil {
		key := varint()
		f := field{number: int(key >> 3)}
		switch key & 7 {
		case 0:
			f.value = varint()
		case 1:
			f.value, b = binary.LittleEndian.Uint64(b), b[8:]
		case 5:
			f.value, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		case 2:
			n := varint()
			f.bytes, b = b[:n], b[n:]
		default:
			return nil, fmt.Errorf("wire type %d", key&7)
		}
		out = append(out, f)
	}
	return out, err
}

// Event is an event read back.
type Event struct {
	Wall    float64 // seconds since 1970
	Step    int64
	Version string             // of the first
	Values  map[string]float32 // by tag
}

// Read returns the events of a file.
func Read(b []byte) (out []Event, err error) {
	all, err := records(b)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		e, err := decode(r)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func decode(b []byte) (d Event, err error) {
	all, err := fields(b)
	for _, f := range all {
		switch f.number {
		case 1:
			d.Wall = math.Float64frombits(f.value)
		case 2:
			d.Step = int64(f.value)
		case 3:
			d.Version = string(f.bytes)
		case 5:
			d.Values = map[string]float32{}
			values, err := fields(f.bytes)
			if err != nil {
				return d, err
			}
			for _, v := range values {
				parts, err := fields(v.bytes)
				if err != nil || len(parts) != 2 || v.number != 1 || parts[0].number != 1 || parts[1].number != 2 {
					return d, fmt.Errorf("a value of %+v, %v", parts, err)
				}
				d.Values[string(parts[0].bytes)] = math.Float32frombits(uint32(parts[1].value))
			}
		}
	}
	return d, err
}
