package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// decoded checks what the values of a page decode to.
func (g *pageGuard) decoded(data []byte, encoding format.Encoding, most int64) error {
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		if g.boolean {
			g.bits(data, most)
		}
		return nil // their length is their count
	//lint:ignore SA1019 older writers use the first.
	case format.PlainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		if data[0] > 32 {
			return fmt.Errorf("dictionary indexes of %d bits", data[0])
		}
		return g.runs(data[1:], int(data[0]), most)
	case format.RLE: // booleans
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errors.New("a page that is cut short")
		}
		data = data[4:][:binary.LittleEndian.Uint32(data)]
		if err := g.runs(data, 1, most); err != nil {
			return err
		}
		g.boolRuns(data, most)
		return nil
	case format.DeltaBinaryPacked:
		return deltas(data, most, g.intBits)
	case format.DeltaLengthByteArray:
		return deltas(data, most, 32)
	case format.DeltaByteArray:
		return g.prefixes(data, most)
	}
	return fmt.Errorf("values encoded as %v are not read; write the file with plain or dictionary encoding", encoding)
}

// indexMemory is what the library keeps of a run's value: an index of 32 bits.
const indexMemory = 4

// runs bounds the run lengths of the hybrid encoding of runs and bit-packed groups, and takes the memory of values beyond those of the
// page: writers fill the last run up.
func (g *pageGuard) runs(data []byte, width int, most int64) error {
	extra, err := paddingOf(data, width, most)
	if err != nil {
		return err
	}
	return g.more(indexMemory * extra)
}

// paddingOf returns how many values the runs hold beyond the page's. There can be 8 for each byte of them.
func paddingOf(data []byte, width int, most int64) (int64, error) {
	room, total := uint64(most)+8*uint64(len(data)), uint64(0)
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return 0, errors.New("run lengths that are cut short")
		}
		data = data[n:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 != 0 && count <= room { // groups of eight
			count, size = 8*count, count*uint64(width)
		}
		if count > room || size > uint64(len(data)) {
			return 0, fmt.Errorf("a run of %d values in a page of %d", count, most)
		}
		if total += count; total > room {
			return 0, fmt.Errorf("runs of more than the page's %d values", most)
		}
		data = data[size:]
	}
	return max(0, int64(total)-most), nil
}

// bits reads at most so many booleans, eight a byte.
func (g *pageGuard) bits(data []byte, most int64) {
	for i := range min(most, 8*int64(len(data))) {
		g.bools = append(g.bools, data[i/8]>>(i%8)&1)
	}
}

// boolRuns reads booleans in runs that were checked: the library reads runs of one value as if a byte were eight of them.
func (g *pageGuard) boolRuns(data []byte, most int64) {
	for len(data) > 0 && most > 0 {
		head, n := binary.Uvarint(data)
		data = data[n:]
		count := min(int64(head>>1), most)
		if head&1 != 0 {
			packed := data[:head>>1]
			count = min(8*int64(len(packed)), most)
			g.bits(packed, count)
			data = data[len(packed):]
		} else {
			g.bools = append(g.bools, bytes.Repeat(data[:1], int(count))...)
			data = data[1:]
		}
		most -= count
	}
}

// deltas checks a delta encoding: block size, miniblocks, count, first value, and of each block the widths of its numbers, which are in
// bits and at most those of the values. Some writers put 33 into a column of 32, which the library reads as other numbers.
func deltas(data []byte, most int64, bits byte) error {
	var head [4]uint64
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return errors.New("a delta encoding that is cut short")
		}
		head[i], data = v, data[n:]
	}
	block, parts, count := head[0], head[1], head[2]
	if block == 0 || block > 1<<16 || parts == 0 || parts > block || count > uint64(most) {
		return fmt.Errorf("a delta encoding of %d values in blocks of %d and %d parts, in a page of %d values", count, block, parts, most)
	}
	for left := int64(count) - 1; left > 0; {
		_, n := binary.Uvarint(data)
		if n <= 0 || uint64(len(data)-n) < parts {
			return errors.New("a delta encoding that is cut short")
		}
		widths := data[n:][:parts]
		data = data[uint64(n)+parts:]
		for _, w := range widths {
			if left <= 0 {
				break
			}
			if w > bits {
				return fmt.Errorf("differences of %d bits in a column of %d: write it again in another encoding, or with other software", w, bits)
			}
			data = data[min(uint64(len(data)), block/parts*uint64(w)/8):]
			left -= int64(block / parts)
		}
	}
	return nil
}

// prefixes bounds texts that repeat the beginning of the one before: n bytes can ask for n² of them.
func (g *pageGuard) prefixes(data []byte, most int64) error {
	if err := deltas(data, most, 32); err != nil {
		return err
	}
	lengths, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, data)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, n := range lengths {
		if n < 0 {
			return errors.New("a text that repeats less than nothing")
		}
		size += int64(n) // at most 2⁶² in all
	}
	if g.unpacked += size; g.unpacked > g.limit {
		return errUnpacked(g.limit)
	}
	return g.more(2 * size)
}
