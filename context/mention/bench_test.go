package mention_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"annotator/context/mention"
)

// BenchmarkFind reads a scene of 2,000 words for the names of a glossary of a given size. It reports the memory of an
// entry with one name, including the name.
func BenchmarkFind(b *testing.B) {
	for _, size := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("names=%d", size), func(b *testing.B) {
			before := heap()
			index := mention.New()
			for id := range size {
				index.SetNames(int64(id), []string{properName(id, size)})
			}
			perName := float64(heap()-before) / float64(size)
			text := sceneOf(2_000, size)
			b.ReportAllocs()
			for b.Loop() {
				index.Find(text)
			}
			b.ReportMetric(perName, "B/name")
			b.ReportMetric(float64(len(index.Find(text))), "matches")
		})
	}
}

// BenchmarkFindKorean reads a scene in which most words end with particles, and one in ten is a name with some.
func BenchmarkFindKorean(b *testing.B) {
	index := mention.New()
	for id := range 100_000 {
		index.SetNames(int64(id), []string{hangul(id)})
	}
	particles := strings.Fields("은 는 이 가 을 를 에게서는 에서 로 으로 까지도 . 했다 이었다")
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for n := range 2_000 {
		id := 1_000_000 + random.IntN(1_000_000)
		if n%10 == 0 {
			id = random.IntN(100_000)
		}
		text.WriteString(hangul(id) + particles[random.IntN(len(particles))] + " ")
	}
	b.ReportAllocs()
	for b.Loop() {
		index.Find(text.String())
	}
	b.ReportMetric(float64(len(index.Find(text.String()))), "matches")
}

// hangul spells a number in syllables.
func hangul(n int) string {
	var name strings.Builder
	for ; n > 0 || name.Len() < 2*len("가"); n /= 399 {
		name.WriteRune('가' + rune(n%399)*28 + rune(n%3))
	}
	return name.String()
}

func BenchmarkSetNames(b *testing.B) {
	index := mention.New()
	id := 0
	for b.Loop() {
		index.SetNames(int64(id), []string{properName(id, 1_000_000)})
		id++
	}
}

// BenchmarkSimilar asks for the names like one, of which a glossary gets more and more.
func BenchmarkSimilar(b *testing.B) {
	for _, size := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("names=%d", size), func(b *testing.B) {
			index := mention.New()
			for id := range size {
				index.SetNames(int64(id), []string{properName(id, size)})
			}
			index.Similar(0, []string{"Ysolde"}, 4)
			id := 0
			for b.Loop() {
				index.Similar(int64(id%size), []string{properName(id%size, size)}, 4)
				id++
			}
		})
	}
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// properName returns the name of an id: of one to four words, in a glossary whose vocabulary grows with its size.
func properName(id, size int) string {
	random := rand.New(rand.NewPCG(uint64(id), 0))
	words := func() string { return syllables(random.IntN(200+size/10), true) }
	switch id % 10 {
	case 0, 1, 2:
		return syllables(id, true)
	case 3:
		return "The " + words() + " of " + words()
	default:
		return words() + " " + words()
	}
}

// syllables spells a number as a word.
func syllables(n int, capital bool) string {
	parts := []string{
		"ka", "rin", "to", "vel", "mar", "os", "ith", "du", "sha", "len", "bor", "ey", "wyn", "gal",
		"pre", "zu",
	}
	var word strings.Builder
	for {
		word.WriteString(parts[n%len(parts)])
		if n /= len(parts); n == 0 {
			break
		}
	}
	if capital {
		return strings.ToUpper(word.String()[:1]) + word.String()[1:]
	}
	return word.String()
}

// sceneOf returns a text with a number of words. One in twenty begins a name, one in ten is the word of some name, half
// are the commonest words of the language.
func sceneOf(words, size int) string {
	common := strings.Fields("the of and to a in that it he was she his her for as with had on at by be is not but " +
		"they from you were which one all")
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for n := 0; n < words; n++ {
		switch draw := random.IntN(20); {
		case draw == 0:
			name := properName(random.IntN(size), size)
			n += strings.Count(name, " ")
			text.WriteString(name)
		case draw < 3:
			text.WriteString(syllables(random.IntN(200+size/10), true))
		case draw < 13:
			text.WriteString(common[random.IntN(len(common))])
		default:
			text.WriteString(syllables(1_000_000+random.IntN(5_000), false))
		}
		text.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". ", ".\n\n"}[random.IntN(8)])
	}
	return text.String()
}
