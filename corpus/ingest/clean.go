package ingest

import "strings"

// clean makes text of a source storable: line ends become LF, and control characters other than tab and LF are dropped
// and counted. So is U+FFFD, which replaces what no decoder could read. Nothing is normalised: a quotation must be
// found in the source as it was written.
func (r *Report) clean(text, where string) string {
	clean, dropped := cleanText(text)
	r.leaveOutMany("control characters", where, dropped)
	r.leaveOutMany("characters that cannot be read, now U+FFFD", where, strings.Count(clean, "\uFFFD"))
	return clean
}

// lineEnds makes line feeds of the ends of lines and pages.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n")

func cleanText(text string) (clean string, dropped int) {
	dirty := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }
	if strings.IndexFunc(text, dirty) < 0 {
		return text, 0
	}
	text = lineEnds.Replace(text)
	clean = strings.Map(func(r rune) rune {
		if dirty(r) {
			dropped++
			return -1
		}
		return r
	}, text)
	return clean, dropped
}
