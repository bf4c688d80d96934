package codex

import (
	"regexp"
	"strconv"
	"strings"
)

// Citation is where an answer cites posts.
type Citation struct {
	Start, End int // in bytes
	Posts      []int64
}

// citation matches [post 12] and [posts 12, 13].
var citation = regexp.MustCompile(`(?i)\[posts?[ :#]+([0-9][0-9 ,;#]*)\]`)

// Citations returns the citations of an answer, in order.
func Citations(answer string) []Citation {
	var found []Citation
	for _, at := range citation.FindAllStringSubmatchIndex(answer, -1) {
		c := Citation{Start: at[0], End: at[1]}
		for _, number := range strings.FieldsFunc(answer[at[2]:at[3]], func(r rune) bool {
			return r < '0' || r > '9'
		}) {
			if id, err := strconv.ParseInt(number, 10, 64); err == nil {
				c.Posts = append(c.Posts, id)
			}
		}
		found = append(found, c)
	}
	return found
}
