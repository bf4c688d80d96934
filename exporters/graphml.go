package exporters

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// graphKey declares an attribute of nodes or edges.
type graphKey struct {
	ID   string `xml:"id,attr"`
	For  string `xml:"for,attr"`
	Name string `xml:"attr.name,attr"`
	Type string `xml:"attr.type,attr"`
}

// graphData is the value of an attribute.
type graphData struct {
	Key  string `xml:"key,attr"`
	Text string `xml:",chardata"`
}

type graphNode struct {
	ID   string      `xml:"id,attr"`
	Data []graphData `xml:"data"`
}

type graphEdge struct {
	ID     string      `xml:"id,attr"`
	Source string      `xml:"source,attr"`
	Target string      `xml:"target,attr"`
	Data   []graphData `xml:"data"`
}

type graphML struct {
	XMLName xml.Name   `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
	Keys    []graphKey `xml:"key"`
	Graph   struct {
		ID      string      `xml:"id,attr"`
		Default string      `xml:"edgedefault,attr"`
		Nodes   []graphNode `xml:"node"`
		Edges   []graphEdge `xml:"edge"`
	} `xml:"graph"`
}

// writeGraphML writes the relations between entries as GraphML. An edge has the relation as its label, with the scenes
// from and until which it holds.
func writeGraphML(w io.Writer, doc *Document) error {
	g := graphML{Keys: []graphKey{
		{"label", "node", "label", "string"},
		{"tags", "node", "tags", "string"},
		{"first", "node", "first_scene", "int"},
		{"relation", "edge", "label", "string"},
		{"kind", "edge", "kind", "string"},
		{"from", "edge", "from_scene", "int"},
		{"until", "edge", "until_scene", "int"},
		{"earlier", "edge", "earlier", "boolean"},
	}}
	g.Graph.ID, g.Graph.Default = "codex", "directed"
	tied := map[int64]bool{}
	for _, r := range doc.relations() {
		if r.ObjectEntry == 0 {
			continue
		}
		tied[r.Entry], tied[r.ObjectEntry] = true, true
		edge := graphEdge{
			ID: fmt.Sprintf("claim-%d-%d", r.Entry, r.Claim), Source: nodeID(r.Entry), Target: nodeID(r.ObjectEntry),
			Data: []graphData{
				{"relation", r.Relation}, {"kind", string(r.Kind)}, {"from", strconv.Itoa(r.From.Scene)},
			},
		}
		if r.Until != nil {
			edge.Data = append(edge.Data, graphData{"until", strconv.Itoa(r.Until.Scene)})
		}
		if r.Earlier {
			edge.Data = append(edge.Data, graphData{"earlier", "true"})
		}
		g.Graph.Edges = append(g.Graph.Edges, edge)
	}
	for i := range doc.Entries {
		if e := &doc.Entries[i]; tied[e.ID] {
			g.Graph.Nodes = append(g.Graph.Nodes, graphNode{nodeID(e.ID), []graphData{
				{"label", nameOf(e)},
				{"tags", strings.Join(e.Tags, ", ")},
				{"first", strconv.Itoa(e.First.Scene)},
			}})
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", " ")
	if err := encoder.Encode(g); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func nodeID(entry int64) string { return fmt.Sprintf("entry-%d", entry) }
