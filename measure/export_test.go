package measure

// PowerOf is the power of the features' unit in a measure.
func PowerOf(key string) int {
	d, _ := Lookup(key)
	return d.power
}

// OfParts reports whether a measure is put together from numbers of size 1, and may be 0 by structure.
func OfParts(key string) bool {
	d, _ := Lookup(key)
	return d.rounding.parts
}
