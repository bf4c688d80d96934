package ingest

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The notation of Aozora Bunko: readings in 《》, their beginning at ｜, notes on layout and headings in ［＃］.
var (
	aozoraNote    = regexp.MustCompile(`［＃[^］\n]*］`)
	aozoraRuby    = regexp.MustCompile(`《[^》\n]*》|｜`)
	aozoraHeading = regexp.MustCompile(`(大|中|小)見出し`)
	aozoraSource  = regexp.MustCompile(`^底本[：:]`)
)

// isAozora reports whether a text has notes or readings in that notation.
func isAozora(text string) bool {
	head := text[:min(len(text), headSize)]
	return strings.Contains(head, "［＃") || len(aozoraRuby.FindAllString(head, 4)) > 3 &&
		strings.ContainsAny(head, "のはを")
}

// readAozora reads a text in this notation. A line is a paragraph, and a note may make it a heading. The text ends with
// its source and its makers.
func (b *book) readAozora(text string) {
	offset, gap, part, page, legend := 0, wideGap, "", false, false
	for line := range strings.Lines(text) {
		at := offset
		offset += len(line)
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) == "" {
			gap++
			continue
		}
		if strings.Trim(line, "-") == "" {
			legend = !legend
			b.account.leaveOut(partLayout, line)
			continue
		}
		if aozoraSource.MatchString(line) {
			part = partMakerNotes
		}
		if strings.Contains(line, "［＃改ページ］") || strings.Contains(line, "［＃改丁］") {
			page = true
		}
		n := &node{kind: paragraph, offset: at, gap: gap, page: page}
		if match := aozoraHeading.FindStringSubmatch(strings.Join(aozoraNote.FindAllString(line, -1),
			"")); match != nil {
			n.kind, n.level = heading, 1+strings.Index("大中小", match[1])/utf8.RuneLen('大')
		}
		n.text = b.dropNotation(line)
		if n.text == "" {
			continue
		}
		b.add(n)
		switch {
		case legend:
			b.leave(n, partLayout)
		case part != "":
			b.leave(n, part)
		}
		gap, page = 0, false
	}
	b.readAozoraTitle()
}

// dropNotation takes the notation out of a line.
func (b *book) dropNotation(line string) string {
	for _, notation := range []struct {
		pattern *regexp.Regexp
		part    string
	}{{aozoraNote, partLayout}, {aozoraRuby, partRuby}} {
		if b.keep(notation.part) {
			continue
		}
		line = notation.pattern.ReplaceAllStringFunc(line, func(mark string) string {
			b.account.leaveOut(notation.part, mark)
			return ""
		})
	}
	return strings.Trim(line, " \t\u3000")
}

// readAozoraTitle takes title and author from the first two lines.
func (b *book) readAozoraTitle() {
	if len(b.nodes) < 3 || b.nodes[1].gap > 0 || b.nodes[0].kind != paragraph || b.nodes[1].kind != paragraph ||
		len(b.nodes[0].text) > maxHeading || len(b.nodes[1].text) > maxHeading {
		return
	}
	b.title, b.author = b.nodes[0].text, b.nodes[1].text
}
