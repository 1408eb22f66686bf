package data

import "fmt"

// Batches deals the sample numbers 0…N−1 in batches, in an order that depends only on (seed,
// epoch), so an epoch can be repeated or resumed without the earlier ones. No call after NewBatches
// allocates.
//
//	b.Start(epoch)
//	for idx := b.Next(); idx != nil; idx = b.Next() { … }
type Batches struct {
	n, size  int
	dropLast bool
	seed     uint64
	order    []int32
	at       int
	rng      stream
}

// NewBatches deals n samples in batches of size. The last batch of an epoch holds what is left; with
// dropLast it is left out if it is not full. An error says when no batch could ever be dealt.
func NewBatches(n, size int, dropLast bool, seed uint64) (*Batches, error) {
	switch {
	case n < 1:
		return nil, fmt.Errorf("data: %d samples; at least 1 is needed to draw batches", n)
	case size < 1:
		return nil, fmt.Errorf("data: batch size is %d; at least 1 is needed", size)
	case dropLast && size > n:
		return nil, fmt.Errorf("data: batch size %d is above the %d samples and drop_last leaves no batch; lower the batch size to %d", size, n, n)
	}
	return &Batches{n: n, size: size, dropLast: dropLast, seed: seed, order: make([]int32, n), at: n}, nil
}

// Start shuffles for an epoch: Fisher–Yates from the identity, on the stream of (seed, epoch).
func (b *Batches) Start(epoch int) {
	for i := range b.order {
		b.order[i] = int32(i)
	}
	b.rng.reset(b.seed, forOrder, uint64(epoch))
	for i := b.n - 1; i > 0; i-- {
		j := b.rng.below(i + 1)
		b.order[i], b.order[j] = b.order[j], b.order[i]
	}
	b.at = 0
}

// Next returns the sample numbers of the next batch, or nil at the end of the epoch (and before
// the first Start). The slice is valid until the next Start and must not be changed.
func (b *Batches) Next() []int32 {
	end := min(b.at+b.size, b.n)
	if b.at == b.n || b.dropLast && end-b.at < b.size {
		return nil
	}
	batch := b.order[b.at:end]
	b.at = end
	return batch
}

// Steps returns the number of batches of an epoch.
func (b *Batches) Steps() int {
	if b.dropLast {
		return b.n / b.size
	}
	return (b.n + b.size - 1) / b.size
}
