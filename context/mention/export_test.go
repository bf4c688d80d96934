package mention

// What the tests of Similar look at.
const (
	MinSimilarity = minSimilarity
	MaxByTrigrams = maxByTrigrams
	MaxByWords    = maxByWords
)

// SharingTrigrams returns the other entries that are found by trigrams.
func (x *Index) SharingTrigrams(entry int64, names ...string) []int64 {
	x.similar.update(x.names)
	return x.similar.sharingTrigrams(spell(entry, names))
}

// SharingWords returns the other entries that are found by words.
func (x *Index) SharingWords(entry int64, names ...string) []int64 {
	x.similar.update(x.names)
	return x.similar.sharingWords(spell(entry, names))
}
