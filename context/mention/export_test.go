package mention

// What the tests of the posting lists look at.
const (
	MinSimilarity = minSimilarity
	MaxByTrigrams = maxByTrigrams
	MaxByWords    = maxByWords
)

// SharingTrigrams returns the other entries that are found by trigrams.
func (x *Index) SharingTrigrams(entry int64, names ...string) []int64 {
	return x.allPostings().sharingTrigrams(entry, names)
}

// SharingWords returns the other entries that are found by words.
func (x *Index) SharingWords(entry int64, names ...string) []int64 {
	return x.allPostings().sharingWords(entry, names)
}
