// Package metrics writes figures of runs in the text format of Prometheus.
//
// They are computed from the databases when they are asked for. So they do not begin anew with a process, and are the
// same from a run and from a reader of its database.
package metrics

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"annotator"
	"annotator/storage"
)

// ContentType is that of what Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Page writes the figures of some databases. Its methods may be called from several goroutines.
type Page struct {
	version string
	now     func() time.Time
	began   time.Time

	mu   sync.Mutex // held while figures are read, so that none are read from a database that closes
	open map[string]*storage.DB
	last map[string]*figures // of databases that were removed
}

// New returns a page of no databases.
func New(version string, now func() time.Time) *Page {
	return &Page{
		version: version, now: now, began: now(), open: map[string]*storage.DB{}, last: map[string]*figures{},
	}
}

// Add adds a database under a name that no other has.
func (p *Page) Add(name string, db *storage.DB) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[name] = db
}

// Remove reads the figures of a database for the last time: after it, the database may be closed.
func (p *Page) Remove(ctx context.Context, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if db := p.open[name]; db != nil {
		last := read(ctx, name, db)
		last.active = false
		p.last[name] = last
		delete(p.open, name)
	}
}

// IsLost reports whether the file of an open database was deleted, moved or replaced.
func (p *Page) IsLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, db := range p.open {
		if db.Replaced() {
			return true
		}
	}
	return false
}

// figures are those of a database.
type figures struct {
	storage.Figures
	name     string
	readable bool
	active   bool // a process writes it
}

// read reads the figures of a database. One in which no run has begun has none, and is readable.
func read(ctx context.Context, name string, db *storage.DB) *figures {
	f := &figures{name: name}
	if db.Replaced() {
		return f
	}
	active, err := storage.Running(db.Path())
	if err == nil {
		f.Figures, err = db.Run.Figures(ctx)
	}
	f.active = active
	f.readable = err == nil || annotator.KindOf(err) == annotator.NotFound
	return f
}

// Write writes all metrics.
func (p *Page) Write(ctx context.Context, out io.Writer) error {
	p.mu.Lock()
	all := maps.Clone(p.last)
	for name, db := range p.open {
		all[name] = read(ctx, name, db)
	}
	p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	heads := All()
	for i, m := range processMetrics() {
		heads[i].writeHead(w)
		labels, value := m.value(p)
		fmt.Fprintf(w, "%s%s %s\n", m.Name, labels, number(value))
	}
	names, heads := slices.Sorted(maps.Keys(all)), heads[len(processMetrics()):]
	for i, m := range runMetrics() {
		heads[i].writeHead(w)
		for _, name := range names {
			m.samples(all[name], func(suffix string, value float64, labels ...string) {
				fmt.Fprintf(w, "%s%s%s %s\n", m.Name, suffix, braced(append([]string{"database", name}, labels...)),
					number(value))
			})
		}
	}
	return w.Flush()
}

// Metric describes a metric.
type Metric struct {
	Name   string
	Type   string // gauge, counter or histogram
	Labels string // besides database; empty for none
	Help   string
}

// All returns all metrics, those of the process first.
func All() (all []Metric) {
	for _, m := range processMetrics() {
		all = append(all, m.Metric)
	}
	for _, m := range runMetrics() {
		all = append(all, m.Metric)
	}
	return all
}

func (m *Metric) writeHead(w io.Writer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", m.Name, m.Help, m.Name, m.Type)
}

// processMetric is a metric of the process, with one sample.
type processMetric struct {
	Metric
	value func(*Page) (labels string, value float64)
}

func processMetrics() []processMetric {
	return []processMetric{
		{
			Metric{"annotator_build_info", "gauge", "version, go", "1; the labels are the versions of program and Go"},
			func(p *Page) (string, float64) {
				return braced([]string{"version", p.version, "go", runtime.Version()}), 1
			},
		},
		{
			Metric{"annotator_start_time_seconds", "gauge", "", "when the process began, in seconds since 1970"},
			func(p *Page) (string, float64) { return "", float64(p.began.UnixMilli()) / 1000 },
		},
		{
			Metric{"annotator_memory_bytes", "gauge", "", "memory that the process holds, by Go's runtime"},
			func(*Page) (string, float64) { return "", memory() },
		},
		{
			Metric{"annotator_goroutines", "gauge", "", "goroutines of the process"},
			func(*Page) (string, float64) { return "", float64(runtime.NumGoroutine()) },
		},
	}
}

// memory returns the memory that is mapped and not given back to the system.
func memory() float64 {
	samples := []runtimemetrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	runtimemetrics.Read(samples)
	return float64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// number formats a value as Prometheus reads it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// braced formats labels, given as names and values in turn.
func braced(labels []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var parts []string
	for pair := range slices.Chunk(labels, 2) {
		parts = append(parts, pair[0]+`="`+escape.Replace(strings.ToValidUTF8(pair[1], "\uFFFD"))+`"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}
