package exporters_test

import (
	"encoding/xml"
	"testing"

	"annotator"
	"annotator/exporters"

	"pgregory.net/rapid"
)

// TestGraphIsWhole: the graph is XML, each edge joins nodes of it, and there is one for each relation to an entry.
func TestGraphIsWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		idOf := func(e annotator.Entry) int64 { return e.ID }
		list := rapid.SliceOfNDistinct(rapid.Custom(entry), 0, 4, idOf).Draw(t, "entries")
		relations := 0
		for i := range list {
			list[i].Term, list[i].Disambiguator = string(rune('a'+i)), ""
			list[i].Aliases = nil
			for k := range list[i].Claims {
				c := &list[i].Claims[k]
				c.ID, c.Ended = int64(k+1), ""
				if c.Relation = rapid.SampledFrom([]string{"", "sister & of"}).Draw(t, "relation"); c.Relation == "" {
					continue
				}
				of := rapid.IntRange(0, 4).Draw(t, "object")
				if c.Object = string(rune('A' + of)); of < len(list) && of != i {
					relations++
				}
			}
		}
		doc := exporters.Build(story, list, position)
		var graph struct {
			Nodes []struct {
				ID string `xml:"id,attr"`
			} `xml:"graph>node"`
			Edges []struct {
				Source string `xml:"source,attr"`
				Target string `xml:"target,attr"`
			} `xml:"graph>edge"`
		}
		if err := xml.Unmarshal(export(t, named(t, "graphml"), &doc), &graph); err != nil {
			t.Fatal(err)
		}
		nodes := map[string]bool{}
		for _, n := range graph.Nodes {
			nodes[n.ID] = true
		}
		for _, e := range graph.Edges {
			if !nodes[e.Source] || !nodes[e.Target] {
				t.Fatalf("an edge joins %s and %s, of %v", e.Source, e.Target, nodes)
			}
		}
		if len(graph.Edges) != relations || len(nodes) != len(graph.Nodes) {
			t.Fatalf("%d edges for %d relations", len(graph.Edges), relations)
		}
	})
}
