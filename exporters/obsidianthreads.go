package exporters

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writeThreads writes the notes of the threads, and collects links to the paragraphs in which quotations begin.
func (v *vault) writeThreads(ctx context.Context) error {
	threads, err := v.Text.Threads(ctx)
	if err != nil {
		return err
	}
	for i, thread := range threads {
		name := v.uniquePath("Threads", fmt.Sprintf("%03d %s", i+1, thread.Title), thread.ID)
		v.threads = append(v.threads, name)
		var text bytes.Buffer
		fmt.Fprintf(&text, "---\nthread: %d\n---\n", thread.ID)
		then, err := v.Text.MentionsThen(ctx, thread.ID)
		if err != nil {
			return err
		}
		now, err := v.Text.Mentions(ctx, thread.ID)
		if err != nil {
			return err
		}
		for post, err := range v.Text.Posts(ctx, thread.ID) {
			if err != nil {
				return err
			}
			v.post(&text, name, post, v.names(then[post.Place], now[post.Place]))
		}
		if err := v.writeNote(name, text.String()); err != nil {
			return err
		}
	}
	return nil
}

// names returns the mentions that have a note, in the order of the text; of those that begin together, the longest is
// the first. A name leads to the entry that had it then, or to the one that has it now, if that one was merged since.
func (v *vault) names(then, now []Mention) []Mention {
	chosen := map[Mention]int64{} // by mentions without entries
	for _, mentions := range [][]Mention{then, now} {
		found := map[Mention]int64{}
		for _, m := range mentions {
			of := Mention{Start: m.Start, End: m.End}
			if known, ok := found[of]; ok && known != m.Entry {
				found[of] = 0 // a name of several entries
			} else if v.notes[m.Entry] != "" {
				found[of] = m.Entry
			}
		}
		for of, entry := range found {
			if _, ok := chosen[of]; !ok {
				chosen[of] = entry
			}
		}
	}
	var names []Mention
	for of, entry := range chosen {
		if entry != 0 {
			names = append(names, Mention{entry, of.Start, of.End})
		}
	}
	slices.SortFunc(names, func(a, b Mention) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return names
}

// post writes the paragraphs of a post. The first has the block id of the post. A paragraph in which a quotation begins
// has its own id. The first name of each entry in a scene is a link.
func (v *vault) post(text *bytes.Buffer, note string, p *Post, names []Mention) {
	if order := p.Place.Order(); v.named == nil || v.scene != order {
		v.scene, v.named = order, map[int64]bool{}
	}
	paragraphs := paragraphsOf(p.Body)
	for i, paragraph := range paragraphs {
		block := fmt.Sprintf("post-%d", p.ID)
		if i > 0 {
			block = fmt.Sprintf("post-%d-%d", p.ID, i+1)
		}
		last := i+1 == len(paragraphs)
		linked := i == 0
		for _, start := range v.quoted[p.ID] {
			if start >= paragraph.start && (last || start < paragraphs[i+1].start) || i == 0 &&
				start < paragraph.start {
				v.blocks[blockKey(p.ID, start)] = linkTo(note+"#^"+block,
					fmt.Sprintf("scene %d, post %d", p.Scene, p.ID))
				linked = true
			}
		}
		text.WriteString("\n")
		v.paragraph(text, &paragraph, names)
		if linked {
			fmt.Fprintf(text, " ^%s", block)
		}
		text.WriteString("\n")
	}
}

func blockKey(post int64, start int) string { return fmt.Sprintf("%d:%d", post, start) }

// paragraph writes a paragraph of the story with links.
func (v *vault) paragraph(b *bytes.Buffer, p *paragraph, names []Mention) {
	written := 0
	for _, name := range names {
		start, begins := slices.BinarySearch(p.at, name.Start)
		last, ends := slices.BinarySearch(p.at, name.End-1)
		if !begins || !ends || start < written || v.named[name.Entry] {
			continue
		}
		v.named[name.Entry] = true
		b.WriteString(escapeInline(string(p.text[written:start])))
		writeLink(b, linkTo(v.notes[name.Entry], string(p.text[start:last+1])))
		written = last + 1
	}
	b.WriteString(escapeInline(string(p.text[written:])))
}

// add appends a line that has an offset in the text.
func (p *paragraph) add(line string, at int) {
	for part := range strings.SplitAfterSeq(line, "\r") {
		begin := at + utf8.RuneCountInString(part) - utf8.RuneCountInString(strings.TrimLeftFunc(part, unicode.IsSpace))
		at += utf8.RuneCountInString(part)
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if p.text != nil {
			p.text, p.at = append(p.text, '\n'), append(p.at, p.at[len(p.at)-1]+1)
		}
		for i, r := range []rune(part) {
			p.text, p.at = append(p.text, r), append(p.at, begin+i)
		}
	}
}
