package web

import (
	"context"
	"fmt"
	"math"
	"slices"

	"annotator"
	"annotator/view"
)

// threadGroup is a group of consecutive threads, which a chart shows as one column.
type threadGroup struct {
	First, Last view.ThreadSpan
	From, To    int // their numbers in the order of the story, from 1
}

// Label names the threads.
func (g *threadGroup) Label() string {
	if g.First.ID == g.Last.ID {
		return shorten(g.First.Title, 60)
	}
	return shorten(g.First.Title, 40) + " – " + shorten(g.Last.Title, 40)
}

// threadGroups divides the threads into groups of the same size. The map has the index of a thread's group.
func (v *codexView) threadGroups(ctx context.Context, maxGroups int) ([]*threadGroup, map[int64]int, error) {
	threads, err := v.Threads(ctx)
	size := max(1, (len(threads)+maxGroups-1)/maxGroups)
	var groups []*threadGroup
	of := map[int64]int{}
	for from := 0; from < len(threads); from += size {
		to := min(from+size, len(threads))
		for _, thread := range threads[from:to] {
			of[thread.ID] = len(groups)
		}
		groups = append(groups, &threadGroup{threads[from], threads[to-1], from + 1, to})
	}
	return groups, of, err
}

// mentionLine shows the mentions of an entry by threads, and the entries that are mentioned in the same scenes.
type mentionLine struct {
	Groups []*threadGroup
	Counts []int // by group
	Total  int
	Strip  chart
	With   []coMention
}

// coMention is an entry that is mentioned in the same scenes as another.
type coMention struct {
	*annotator.Entry
	Scenes int
}

func (v *codexView) mentionLine(ctx context.Context, entry int64) (*mentionLine, error) {
	groups, of, err := v.threadGroups(ctx, plotGroups)
	if err != nil {
		return nil, err
	}
	counts, err := v.MentionCounts(ctx, []int64{entry})
	if err != nil {
		return nil, err
	}
	m := &mentionLine{Groups: groups, Counts: make([]int, len(groups))}
	for _, c := range counts {
		m.Counts[of[c.Thread]] += c.Count
		m.Total += c.Count
	}
	m.fillStrip()
	m.With, err = v.coMentions(ctx, entry)
	return m, err
}

// fillStrip draws a column for each group, as high as its share of the largest count.
func (m *mentionLine) fillStrip() {
	const width, height = 288, 32
	m.Strip = chart{Label: "Mentions by chapter", Width: width, Height: height}
	highest := slices.Max(append(m.Counts, 1))
	step := float64(width) / float64(max(1, len(m.Groups)))
	for i, n := range m.Counts {
		b := bar{X: float64(i) * step, W: max(1, step-min(2, step/4)), H: 2, Y: height - 2, Class: "none"}
		if n > 0 {
			b.H, b.Class = max(3, float64(height)*float64(n)/float64(highest)), "uncached"
			b.Y = height - b.H
		}
		b.Title = fmt.Sprintf("%s: %s", m.Groups[i].Label(), plural(n, "mention"))
		m.Strip.Bars = append(m.Strip.Bars, b)
	}
}

func (v *codexView) coMentions(ctx context.Context, entry int64) ([]coMention, error) {
	const limit = 8
	counts, err := v.Companions(ctx, entry, limit)
	if err != nil {
		return nil, err
	}
	entries, err := v.Headings(ctx, idsOf(counts, func(c *view.EntryCount) int64 { return c.Entry }))
	var list []coMention
	for _, c := range counts {
		if e := entries[c.Entry]; e != nil {
			list = append(list, coMention{e, c.Count})
		}
	}
	return list, err
}

// castPage is a heat map of mentions by threads, and a graph of entries that are mentioned together.
type castPage struct {
	Groups []*threadGroup
	Rows   []castRow
	Height float64              // of the heat map, including the labels of threads
	Found  [][]*annotator.Entry // groups of entries that are mentioned together
	Nodes  []node
	Edges  []edge

	Told     []toldTie // relations between entries, in the order of the story
	MoreTold bool      // some are not listed
	Labels   int       // relations in the picture
}

// castRow is an entry of the heat map.
type castRow struct {
	*annotator.Entry
	Y     float64
	Cells []heatCell
	Total int
}

// heatCell is the number of mentions of an entry in a group of threads.
type heatCell struct {
	X, W    float64
	Opacity float64 // 0 to 1, by the square root of the count
	Count   int
	Title   string
}

// node is an entry in the graph, on an ellipse.
type node struct {
	*annotator.Entry
	X, Y   float64
	Anchor string // of the name, which is outside of the ellipse
	TextX  float64
	TextY  float64
}

// edge joins two entries that are mentioned in the same scenes.
type edge struct {
	From, To       *annotator.Entry
	X1, Y1, X2, Y2 float64
	Width          float64
	Scenes         int
	Chapters       int
	First, Last    string // titles of the first and the last of these chapters
	Drawn          bool   // it is in the picture
}

// The sizes of the heat map and the graph.
const (
	castRows, castColumns = 24, 60
	castGraph, castLines  = 20, 3 // entries of the graph; lines that each of them has at least
	castLeft, castWidth   = 200, 900
	castStep              = 22
	castTop, castBottom   = 8, 26
)

func showCast(r *request) (*page, error) {
	ctx := r.Context()
	mentioned, err := r.view.Foremost(ctx, castRows)
	if err != nil {
		return nil, err
	}
	c := new(castPage)
	if err := c.fillRows(ctx, r.view, idsOf(mentioned,
		func(m *view.EntryCount) int64 { return m.Entry })); err != nil {
		return nil, err
	}
	c.Height = float64(castTop + len(c.Rows)*castStep + castBottom)
	if err := c.fillGraph(ctx, r.view); err != nil {
		return nil, err
	}
	return &page{template: "cast", Title: "Cast", Section: "cast", Data: c}, c.fillTold(ctx, r.view)
}

// fillRows makes the heat map.
func (c *castPage) fillRows(ctx context.Context, v *codexView, ids []int64) error {
	entries, err := v.Headings(ctx, ids)
	if err != nil {
		return err
	}
	var of map[int64]int
	if c.Groups, of, err = v.threadGroups(ctx, castColumns); err != nil {
		return err
	}
	counts, err := v.MentionCounts(ctx, ids)
	if err != nil {
		return err
	}
	table, highest := map[int64][]int{}, 1
	for _, n := range counts {
		if table[n.Entry] == nil {
			table[n.Entry] = make([]int, len(c.Groups))
		}
		table[n.Entry][of[n.Thread]] += n.Count
		highest = max(highest, table[n.Entry][of[n.Thread]])
	}
	width := float64(castWidth-castLeft) / float64(max(1, len(c.Groups)))
	for _, id := range ids {
		if entries[id] == nil || table[id] == nil {
			continue
		}
		row := castRow{Entry: entries[id], Y: float64(castTop + len(c.Rows)*castStep)}
		for i, n := range table[id] {
			row.Total += n
			row.Cells = append(row.Cells, heatCell{
				castLeft + float64(i)*width, max(1, width-1), math.Sqrt(float64(n) / float64(highest)), n,
				fmt.Sprintf("%s, %s: %s", shorten(row.Name(), 60), c.Groups[i].Label(), plural(n, "mention")),
			})
		}
		c.Rows = append(c.Rows, row)
	}
	return nil
}

// fillGraph finds the groups of the first entries, and places them on an ellipse, group by group. Edges join those that
// are mentioned together most.
func (c *castPage) fillGraph(ctx context.Context, v *codexView) error {
	shown := map[int64]*annotator.Entry{}
	var ids []int64
	for i := range c.Rows[:min(castGraph, len(c.Rows))] {
		e := c.Rows[i].Entry
		shown[e.ID], ids = e, append(ids, e.ID)
	}
	pairs, err := v.Together(ctx, ids)
	if err != nil {
		return err
	}
	titles, err := v.Titles(ctx)
	if err != nil {
		return err
	}
	found := groupsOf(ids, pairs)
	for _, group := range found {
		if len(group) > 1 {
			c.Found = append(c.Found, present(group, shown))
		}
	}
	at := map[int64]int{}
	for i, id := range slices.Concat(found...) {
		c.Nodes = append(c.Nodes, newNode(shown[id], 2*math.Pi*float64(i)/float64(len(ids))-math.Pi/2))
		at[id] = i
	}
	slices.SortStableFunc(pairs, func(a, b view.Pair) int { return b.Scenes - a.Scenes })
	ties := map[int64]int{}
	for _, p := range pairs {
		a, b := &c.Nodes[at[p.A]], &c.Nodes[at[p.B]]
		e := edge{
			From: a.Entry, To: b.Entry, X1: a.X, Y1: a.Y, X2: b.X, Y2: b.Y, Scenes: p.Scenes, Chapters: len(p.Threads),
			First: titles[p.Threads[0]], Last: titles[p.Threads[len(p.Threads)-1]],
			Width: 0.5 + 7*float64(p.Scenes)/float64(pairs[0].Scenes),
		}
		if e.Drawn = ties[p.A] < castLines || ties[p.B] < castLines; e.Drawn {
			ties[p.A]++
			ties[p.B]++
		}
		c.Edges = append(c.Edges, e)
	}
	return nil
}

// newNode places an entry on the ellipse, with its name outside of it.
func newNode(e *annotator.Entry, angle float64) node {
	const centerX, centerY, radiusX, radiusY = castWidth / 2, 240, 250, 200
	across, down := math.Cos(angle), math.Sin(angle)
	n := node{Entry: e, X: centerX + radiusX*across, Y: centerY + radiusY*down}
	n.Anchor, n.TextX, n.TextY = "start", n.X+10, n.Y
	switch {
	case math.Abs(across) < 0.01: // the highest and the lowest node
		n.Anchor, n.TextX, n.TextY = "middle", n.X, n.Y+math.Copysign(18, down)
	case across < 0:
		n.Anchor, n.TextX = "end", n.X-10
	}
	return n
}

// groupsOf divides entries into groups: each is in one group with the entry that it is closest to.
func groupsOf(ids []int64, pairs []view.Pair) (groups [][]int64) {
	closest, closeness := map[int64]int64{}, map[int64]float64{}
	for _, p := range pairs {
		for _, side := range [][2]int64{{p.A, p.B}, {p.B, p.A}} {
			if p.Closeness > closeness[side[0]] {
				closest[side[0]], closeness[side[0]] = side[1], p.Closeness
			}
		}
	}
	group := map[int64]int64{}
	for _, id := range ids {
		group[id] = id
	}
	for _, id := range ids {
		if to, tied := closest[id]; tied {
			from, into := group[id], group[to]
			for other := range group {
				if group[other] == from {
					group[other] = into
				}
			}
		}
	}
	for _, id := range ids {
		i := slices.IndexFunc(groups, func(g []int64) bool { return group[g[0]] == group[id] })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], id)
	}
	return groups
}
