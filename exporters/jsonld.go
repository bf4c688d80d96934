package exporters

import (
	"fmt"
	"io"

	"annotator"
	"annotator/codex"
)

// jsonldContext is the context of the linked data. Names of schema.org need no prefix.
var jsonldContext = map[string]any{
	"@vocab": "https://schema.org/",
	"prov":   "http://www.w3.org/ns/prov#",
	"oa":     "http://www.w3.org/ns/oa#",
	"codex":  "urn:annotator:vocabulary:",
}

// schemaTypes are the types of schema.org by tags.
var schemaTypes = map[string]string{
	"person": "Person", "character": "Person", "place": "Place", "location": "Place", "group": "Organization",
	"faction":      "Organization",
	"organization": "Organization", "event": "Event", "object": "Product", "item": "Product", "concept": "DefinedTerm",
	"term": "DefinedTerm",
}

// node is a node of the graph.
type node map[string]any

// writeJSONLD writes a document as JSON-LD 1.1. Entries are things of schema.org. Claims are entities of PROV that are
// derived from quotations, which are specific resources of the Web Annotation model.
func writeJSONLD(w io.Writer, doc *Document) error {
	base := "urn:annotator:" + doc.Story.CorpusHash
	story := node{"@id": base, "@type": "CreativeWork", "name": doc.Story.Title}
	if doc.AsOf != nil {
		story["codex:asOf"] = placeNode(*doc.AsOf)
	}
	graph := []node{story}
	objects := map[[2]int64]int64{} // of relations, by entry and claim
	for _, r := range doc.relations() {
		objects[[2]int64{r.Entry, r.Claim}] = r.ObjectEntry
	}
	for i := range doc.Entries {
		graph = appendEntry(graph, base, &doc.Entries[i], objects)
	}
	return writeValue(w, node{"@context": jsonldContext, "@graph": graph})
}

func appendEntry(graph []node, base string, e *Entry, objects map[[2]int64]int64) []node {
	id := fmt.Sprintf("%s:entry:%d", base, e.ID)
	thing := node{
		"@id": id, "@type": byTag(schemaTypes, e.Tags, "Thing"), "name": nameOf(e),
		"alternateName": each(e.Aliases, func(a Alias) string { return a.Name }),
		"description":   codex.WithoutLinks(e.Definition), "keywords": e.Tags, "codex:status": e.Status,
		"codex:first": placeNode(e.First), "codex:last": placeNode(e.Last), "isPartOf": node{"@id": base},
	}
	if e.Present != nil {
		thing["disambiguatingDescription"] = codex.WithoutLinks(e.Present.told())
	}
	graph = append(graph, thing)
	for i := range e.Claims {
		c := &e.Claims[i]
		claim := node{
			"@id": fmt.Sprintf("%s:claim:%d", id, c.ID), "@type": []string{"Claim", "prov:Entity"}, "text": c.Text,
			"about":      node{"@id": id},
			"codex:kind": c.Kind, "codex:from": placeNode(c.From),
			"prov:wasDerivedFrom": each(c.Evidence, func(v Evidence) node { return quoteNode(base, v) }),
		}
		if c.Speaker != "" {
			claim["author"] = node{"@type": "Person", "name": codex.WithoutLinks(c.Speaker)}
		}
		for name, value := range map[string]string{
			"codex:document": codex.WithoutLinks(c.Document), "codex:as": c.As, "codex:ended": string(c.Ended),
			"codex:relation": c.Relation, "codex:object": c.Object,
		} {
			if value != "" {
				claim[name] = value
			}
		}
		if object := objects[[2]int64{e.ID, c.ID}]; object != 0 {
			claim["codex:relatesTo"] = node{"@id": fmt.Sprintf("%s:entry:%d", base, object)}
		}
		if c.MovedTo != 0 {
			claim["codex:movedTo"] = node{"@id": fmt.Sprintf("%s:entry:%d", base, c.MovedTo)}
		}
		for name, value := range map[string]bool{"codex:identity": c.Identity, "codex:earlier": c.Earlier} {
			if value {
				claim[name] = value
			}
		}
		if c.Until != nil {
			claim["codex:until"] = placeNode(*c.Until)
		}
		if c.ReplacedBy != 0 {
			claim["codex:replacedBy"] = node{"@id": fmt.Sprintf("%s:claim:%d", id, c.ReplacedBy)}
		}
		graph = append(graph, claim)
	}
	return graph
}

func placeNode(p annotator.Position) node {
	return node{"codex:thread": p.Thread, "codex:scene": p.Scene, "codex:post": p.Post}
}

func quoteNode(base string, v Evidence) node {
	return node{
		"@type": "oa:SpecificResource", "oa:hasSource": node{"@id": fmt.Sprintf("%s:post:%d", base, v.Post)},
		"oa:hasSelector": []node{
			{"@type": "oa:TextPositionSelector", "oa:start": v.Start, "oa:end": v.End},
			{"@type": "oa:TextQuoteSelector", "oa:exact": v.Quote},
		},
	}
}
