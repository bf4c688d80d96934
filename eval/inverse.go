package eval

import (
	"sync"

	"annotator/codex"
)

// inverse returns a relation as it is told from the side of the object: "child of" for "mother of". It is empty for
// words that the table does not have.
func inverse(relation string) string { return inverses()[codex.Normalize(relation)] }

// pairs are relations and their inverses, in both directions. Of several words for one side, the first is the inverse
// of the other side, and tells no gender.
var pairs = [...][2][]string{
	{{"sibling of", "brother of", "sister of", "twin of"}, {"sibling of"}},
	{{"parent of", "father of", "mother of"}, {"child of", "son of", "daughter of"}},
	{{"grandparent of", "grandfather of", "grandmother of"}, {"grandchild of", "grandson of", "granddaughter of"}},
	{{"ancestor of", "forebear of"}, {"descendant of", "descends from", "descended from"}},
	{{"spouse of", "husband of", "wife of", "married to", "widow of", "widower of"}, {"spouse of"}},
	{{"uncle or aunt of", "uncle of", "aunt of"}, {"nephew or niece of", "nephew of", "niece of"}},
	{{"cousin of"}, {"cousin of"}},
	{{"lover of", "loves"}, {"loved by", "beloved of"}},
	{{"friend of"}, {"friend of"}},
	{{"ally of", "allied with"}, {"ally of"}},
	{{"enemy of", "foe of", "at war with"}, {"enemy of"}},
	{{"rival of"}, {"rival of"}},
	{{"opposes"}, {"opposed by"}},
	{{"colleague of"}, {"colleague of"}},
	{{"teacher of", "taught", "teaches", "master of", "mentor of"}, {"pupil of", "student of", "apprentice of"}},
	{{"superior of", "commander of", "commands", "leads"}, {"subordinate of", "serves under", "reports to"}},
	{{"employer of", "employs"}, {"employed by", "works for", "servant of", "serves"}},
	{{"owner of", "owns", "has"}, {"owned by", "belongs to", "property of"}},
	{{"member of", "belongs among"}, {"has as member"}},
	{{"part of"}, {"has as part"}},
	{{"keeper of", "keeps", "guards", "guardian of"}, {"kept by", "guarded by", "ward of"}},
	{{"maker of", "made", "built", "founded", "wrote"}, {"made by", "built by", "founded by", "written by"}},
	{{"made of"}, {"material of"}},
	{{"lives at", "lives in", "resident of"}, {"home of"}},
	{{"is at", "is in", "stands on", "stands in", "lies in", "lies at", "located in"}, {"place of"}},
	{{"rescued", "saved"}, {"rescued by", "saved by"}},
	{{"killed", "murdered"}, {"killed by", "murdered by"}},
	{{"attacked", "wounded"}, {"attacked by", "wounded by"}},
	{{"betrayed"}, {"betrayed by"}},
	{{"captured", "imprisoned", "captor of"}, {"captured by", "prisoner of"}},
	{{"promised"}, {"was promised by"}},
	{{"knows"}, {"known to"}},
	{{"has rank", "holds the rank of"}, {"rank of"}},
}

// inverses returns the inverse of each relation of the table.
var inverses = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for _, pair := range pairs {
		for side, words := range pair {
			for _, w := range words {
				if table[w] == "" {
					table[w] = pair[1-side][0]
				}
			}
		}
	}
	return table
})
