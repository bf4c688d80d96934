package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"annotator"
	"annotator/exporters"
	"annotator/view"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The prefixes of URIs of resources. A number follows.
const (
	entryURI = "codex://entry/"
	sceneURI = "codex://scene/"
)

// addResources adds the resources: entries as JSON, and scenes as text.
func (s *server) addResources() {
	s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "entry", Title: "An entry of the codex", Description: "an entry by its id, as JSON",
		MIMEType: "application/json", URITemplate: entryURI + "{id}",
	}, s.readEntry)
	if s.Posts == nil {
		return
	}
	s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "scene", Title: "A scene of the story", Description: "the posts of a scene by its number",
		MIMEType: "text/plain", URITemplate: sceneURI + "{n}",
	}, s.readScene)
}

func (s *server) readEntry(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(r.Params.URI, entryURI), 10, 64)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	e, err := view.At(s.DB, s.Limit).Entry(ctx, id)
	if annotator.KindOf(err) == annotator.NotFound {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, err
	}
	at := view.NewPositions(ctx, s.DB)
	return contents(r.Params.URI, "application/json", annotator.EncodeJSON(exporters.NewEntry(e, at.Named))), at.Err
}

func (s *server) readScene(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.Params.URI, sceneURI))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	scene, err := view.At(s.DB, s.Limit).Scene(ctx, n)
	if annotator.KindOf(err) == annotator.NotFound {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, err
	}
	posts, err := s.Posts.Scene(ctx, scene.Thread.ID, scene.Posts)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", view.SceneLabel(&scene.Thread, n))
	for i := range posts {
		fmt.Fprintf(&text, "\n[post %d]\n%s\n", posts[i].ID, posts[i].Body)
	}
	return contents(r.Params.URI, "text/plain", text.String()), nil
}

func contents(uri, mime, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}
}
