package web_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/web"
)

// posts is a story whose posts have 6,000 characters.
type posts struct{}

func (posts) Scene(ctx context.Context, thread int64, ids []int64) (list []annotator.Post, err error) {
	for _, id := range ids {
		list = append(list, annotator.Post{
			ID: id, Thread: thread, Name: "qm",
			Body: strings.Repeat("Dawn – the ship left the port. ", 200),
		})
	}
	return list, nil
}

func (posts) Post(_ context.Context, id int64) (*annotator.Post, error) {
	return &annotator.Post{ID: id, Name: "qm", Body: "Dawn"}, nil
}

// BenchmarkPages measures the pages of a codex with 100,000 entries and 20,000 scenes, with and without a limit. The
// median of each page should be below 100 ms. Processor time depends less on other programs. Where a codex with a
// hundredth of the entries and scenes has the page, the ratio is that of the processor times of the two.
// BenchmarkView of package storage creates the database in ANNOTATOR_BENCH_DIR.
func BenchmarkPages(b *testing.B) {
	dir := os.Getenv("ANNOTATOR_BENCH_DIR")
	if dir == "" {
		b.Skip("ANNOTATOR_BENCH_DIR names no folder in which `go test ./storage -bench View` has left its database")
	}
	if err := runSample(); err != nil {
		b.Fatal(err)
	}
	open := func(path string) *site {
		return serve(b, path, func(o *web.Options) { o.Databases[0].Name, o.Databases[0].Story = "long", posts{} })
	}
	s, short := open(filepath.Join(dir, "annotator.db")), open(filepath.Join(dir, "short", "annotator.db"))
	for _, page := range []struct{ name, path string }{
		{"front page", "/long/"},
		{"run", "/long/run"},
		{"question", "/long/where"},
		{"names", "/long/names"},
		{"names by mentions", "/long/names?sort=weight"},
		{"names by first appearance", "/long/names?sort=first&page=1000"},
		{"names of a tag", "/long/names?tag=place&page=5"},
		{"entries by weight", "/long/entries"},
		{"entries by name", "/long/entries?sort=name"},
		{"entries by first appearance", "/long/entries?sort=first"},
		{"entries, far behind", "/long/entries?sort=name&page=600"},
		{"entries of a tag", "/long/entries?sort=name&tag=place"},
		{"entries by certainty", "/long/entries?status=confirmed"},
		{"entries taken out", "/long/entries?status=retired"},
		{"search of a name", "/long/entries?q=name77"},
		{"search of common words", "/long/entries?q=the+captain+of+the+ship"},
		{"entry", "/long/entry/777"},
		{"entry of many facts", "/long/entry/7"},
		{"entry of many facts, later", "/long/entry/7?fact=250"},
		{"facts that name an entry", "/long/entry/777/named"},
		{"history", "/long/entry/777/history"},
		{"history of many facts", "/long/entry/7/history"},
		{"claim", "/long/entry/777/claim/1"},
		{"claim of many", "/long/entry/7/claim/1"},
		{"revision", "/long/revision/1"},
		{"cast", "/long/cast"},
		{"timeline", "/long/timeline"},
		{"where things stand", "/long/standing"},
		{"story", "/long/story"},
		{"chapter", "/long/chapter/1000"},
		{"chapter, all names", "/long/chapter/1000?names=all"},
		{"scene", "/long/scene/900"},
		{"card", "/long/entry/777/card?at=9000"},
		{"mentions in their sentences", "/long/entry/7/mentions"},
		{"names that begin so", "/long/entries?begins=na&format=json"},
		{"post", "/long/post/8990"},
		{"snapshots", "/long/snapshots"},
		{"snapshot", "/long/snapshot/900"},
		{"plots", "/long/plots"},
		{"audit", "/long/audit"},
		{"audit of a scene", "/long/audit?scene=900"},
		{"turn", "/long/turn/900"},
	} {
		for _, limit := range []string{"", "scene:10000"} {
			path, name := page.path, "no limit"
			if limit != "" {
				path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "as-of=" + limit
				name = limit
			}
			b.Run(fmt.Sprintf("%s/%s", page.name, name), func(b *testing.B) {
				var took []time.Duration
				var long, little time.Duration // of the processor
				compared := short.get(path).StatusCode < http.StatusBadRequest
				for b.Loop() {
					start, before := time.Now(), longtest.ProcessorTime(b)
					if got := s.get(path); got.StatusCode >= http.StatusBadRequest {
						b.Fatalf("%s: status %d", path, got.StatusCode)
					}
					took = append(took, time.Since(start))
					between := longtest.ProcessorTime(b)
					long += between - before
					if compared {
						short.get(path)
						little += longtest.ProcessorTime(b) - between
					}
				}
				slices.Sort(took)
				b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms(median)")
				b.ReportMetric(long.Seconds()*1000/float64(b.N), "ms(processor)")
				if compared {
					b.ReportMetric(long.Seconds()/little.Seconds(), "ratio")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
