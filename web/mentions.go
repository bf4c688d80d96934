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
	Height float64 // of the heat map, including the labels of threads
	Nodes  []node
	Edges  []edge
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
}

// The sizes of the heat map and the graph.
const (
	castRows, castColumns = 24, 60
	castGraph             = 16
	castLeft, castWidth   = 200, 900
	castStep              = 22
	castTop, castBottom   = 8, 26
)

func showCast(r *request) (*page, error) {
	ctx := r.Context()
	mentioned, err := r.view.MostMentioned(ctx, castRows)
	if err != nil {
		return nil, err
	}
	c := new(castPage)
	if err := c.fillRows(ctx, r.view, idsOf(mentioned,
		func(m *view.EntryCount) int64 { return m.Entry })); err != nil {
		return nil, err
	}
	c.Height = float64(castTop + len(c.Rows)*castStep + castBottom)
	return &page{template: "cast", Title: "Cast", Section: "cast", Data: c}, c.fillGraph(ctx, r.view)
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

// fillGraph places the first entries on an ellipse, with edges between those that are mentioned together.
func (c *castPage) fillGraph(ctx context.Context, v *codexView) error {
	shown := c.Rows[:min(castGraph, len(c.Rows))]
	at := map[int64]int{}
	const centerX, centerY, radiusX, radiusY = castWidth / 2, 240, 250, 200
	for i := range shown {
		angle := 2*math.Pi*float64(i)/float64(len(shown)) - math.Pi/2
		across, down := math.Cos(angle), math.Sin(angle)
		n := node{Entry: shown[i].Entry, X: centerX + radiusX*across, Y: centerY + radiusY*down}
		n.Anchor, n.TextX, n.TextY = "start", n.X+10, n.Y
		switch {
		case math.Abs(across) < 0.01: // the highest and the lowest node
			n.Anchor, n.TextX, n.TextY = "middle", n.X, n.Y+math.Copysign(18, down)
		case across < 0:
			n.Anchor, n.TextX = "end", n.X-10
		}
		c.Nodes = append(c.Nodes, n)
		at[n.ID] = i
	}
	pairs, err := v.Together(ctx, idsOf(c.Nodes, func(n *node) int64 { return n.ID }))
	if err != nil {
		return err
	}
	highest := 1
	for _, pair := range pairs {
		a, b := &c.Nodes[at[pair.A]], &c.Nodes[at[pair.B]]
		c.Edges = append(c.Edges, edge{a.Entry, b.Entry, a.X, a.Y, b.X, b.Y, 0, pair.Scenes})
		highest = max(highest, pair.Scenes)
	}
	slices.SortStableFunc(c.Edges, func(a, b edge) int { return b.Scenes - a.Scenes })
	for i := range c.Edges {
		c.Edges[i].Width = 0.5 + 7*float64(c.Edges[i].Scenes)/float64(highest)
	}
	return nil
}
