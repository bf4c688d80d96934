package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/metrics"
	"annotator/runner/notify"
	"annotator/storage"
)

// metricsReference returns docs/metrics.md.
func metricsReference() string {
	var b strings.Builder
	b.WriteString(`# Metrics

Generated from ` + "`metrics`" + `. These figures of runs are at ` + "`/metrics`" + `, in the text format of Prometheus:

` + "```" + `
annotator run book.epub --listen 127.0.0.1:9420     # of this run, while it goes on; also for several stories and parts
annotator serve book.epub --listen 127.0.0.1:8420   # of all databases that are served, during a run and after it
` + "```" + `

They are computed from the databases when they are asked for. So a counter goes on after a run was stopped and resumed,
and both commands show the same. Names, types and labels stay as they are here; metrics and labels may be added. Times are
in seconds, sizes in bytes. All metrics of a run have the label ` + "`database`" + `, the path of its database.

An address beyond this machine requires --token-file. Prometheus sends the token with authorization and
credentials_file. A scraper that uses a name of the machine needs --host NAME. serve with --as-of has no metrics, as
they count the whole story, and a shared link does not open them.

/health answers 200 with "ok" while the process works, and 503 once the file of a database was deleted, moved or
replaced. It needs no token. The board in [deploy/grafana.json](../deploy/grafana.json) shows these metrics, and
[operating.md](operating.md) says which to watch.

| Metric | Type | Labels | Meaning |
|---|---|---|---|
`)
	for _, m := range metrics.All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, inCode(strings.Split(m.Labels, ", ")...), m.Help)
	}
	return b.String()
}

// sample is a line of metrics.
var sample = regexp.MustCompile(`^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (\S+)$`)

// readMetrics returns the values of samples by name and labels. It fails for what is no metric as documented.
func readMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	types := map[string]string{}
	for _, m := range metrics.All() {
		types[m.Name] = m.Type
	}
	values, current := map[string]float64{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if of, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(of, " ")
			if types[name] != kind {
				t.Errorf("%s is a %s, documented as %q", name, kind, types[name])
			}
			current = name
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		parts := sample.FindStringSubmatch(line)
		if parts == nil {
			t.Errorf("no sample: %s", line)
			continue
		}
		suffix, ok := strings.CutPrefix(parts[1], current)
		if known := slices.Contains([]string{"", "_bucket", "_sum", "_count"}, suffix); !ok || !known {
			t.Errorf("a sample of %s stands below %s", parts[1], current)
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		if _, twice := values[parts[1]+parts[2]]; twice || err != nil {
			t.Errorf("%s: %v, twice: %v", line, err, twice)
		}
		values[parts[1]+parts[2]] = value
	}
	return values
}

// TestMetricsAreThoseOfTheDatabase compares what is served of the demo with its database. Each metric has a sample.
func TestMetricsAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	db := openDemo(t)
	page := metrics.New(release, time.Now)
	page.Add("demo \"x\"\n", db)
	write := func() map[string]float64 {
		var text bytes.Buffer
		if err := page.Write(t.Context(), &text); err != nil {
			t.Fatal(err)
		}
		return readMetrics(t, text.String())
	}
	got := write()
	for _, m := range metrics.All() {
		if !slices.ContainsFunc(keys(got), func(name string) bool { return strings.HasPrefix(name, m.Name) }) {
			t.Errorf("%s has no sample", m.Name)
		}
	}
	run, err := db.Run.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const labels = `{database="demo \"x\"\n"`
	sums := map[string]float64{}
	for name, value := range got {
		metric, _, _ := strings.Cut(name, "{")
		if !strings.Contains(name, `purpose="probe"`) {
			sums[metric] += value
		}
	}
	for name, want := range map[string]int{
		"annotator_scenes" + labels + `,state="recorded"}`: run.Recorded,
		"annotator_scenes" + labels + `,state="pending"}`:  0,
		"annotator_run_active" + labels + "}":              0,
	} {
		if value, ok := got[name]; !ok || value != float64(want) {
			t.Errorf("%s is %v (%v), want %d", name, value, ok, want)
		}
	}
	for name, want := range map[string]int{
		"annotator_calls_total":             run.Calls,
		"annotator_prompt_tokens_total":     run.Usage.Prompt,
		"annotator_completion_tokens_total": run.Usage.Completion,
		"annotator_scenes":                  run.Corpus.Scenes,
	} {
		if sums[name] != float64(want) {
			t.Errorf("%s sums up to %v, want %d", name, sums[name], want)
		}
	}
	const of = labels + `,purpose="annotate"`
	last := 0.0
	for _, bound := range storage.Bounds() {
		le := strconv.FormatFloat(bound.Seconds(), 'g', -1, 64)
		value, ok := got["annotator_call_duration_seconds_bucket"+of+`,le="`+le+`"}`]
		if !ok || value < last {
			t.Errorf("the bucket %s has %v after %v", le, value, last)
		}
		last = value
	}
	if count := got["annotator_call_duration_seconds_count"+of+"}"]; count == 0 ||
		count != got["annotator_call_duration_seconds_bucket"+of+`,le="+Inf"}`] {
		t.Errorf("%v calls have a duration", count)
	}
	page.Remove(t.Context(), "demo \"x\"\n")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if last := write(); last["annotator_scenes"+labels+`,state="recorded"}`] != float64(run.Recorded) {
		t.Error("the last figures of a database are gone")
	}
}

func keys(values map[string]float64) (names []string) {
	for name := range values {
		names = append(names, name)
	}
	return names
}

// openDemo opens the database of the demo.
func openDemo(t *testing.T) *storage.DB {
	t.Helper()
	a, out := newTestApp(nil)
	a.now = time.Now
	path := filepath.Join(t.TempDir(), "demo.annotator.db")
	if status := a.run(t.Context(), []string{"demo", "--no-open", "--db", path}); status != exitDone {
		t.Fatal(out)
	}
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestRunServesMetrics asks for the metrics and the health of a run that has ended, and after they are gone.
func TestRunServesMetrics(t *testing.T) {
	t.Parallel()
	db := openDemo(t)
	a, _ := newTestApp(nil)
	a.now = time.Now
	said := make(chan string, 1)
	a.err = writerFunc(func(text []byte) (int, error) { said <- string(text); return len(text), nil })
	o := &runOptions{app: a, settings: newSettings(), hooks: &hooks{}}
	o.listen = "127.0.0.1:0"
	stop, err := o.serveMetrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://\S+`).FindString(<-said)
	end := o.watchDatabase(t.Context(), db)
	values := readMetrics(t, get(t, address, http.StatusOK))
	if values[`annotator_database_readable{database="`+resolved(db.Path())+`"}`] != 1 {
		t.Errorf("the database is not among %v", values)
	}
	health := strings.TrimSuffix(address, "/metrics") + "/health"
	if text := get(t, health, http.StatusOK); text != "ok\n" {
		t.Errorf("the health is %q", text)
	}
	get(t, strings.TrimSuffix(address, "/metrics")+"/run", http.StatusNotFound)
	if err := end(); err != nil {
		t.Error(err)
	}
	stop()
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, health, http.NoBody)
	if answer, err := http.DefaultClient.Do(request); err == nil {
		_ = answer.Body.Close()
		t.Error("the address is served after the run")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

func get(t *testing.T, address string, want int) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		t.Fatalf("%s answers %s (%v): %s", address, answer.Status, err, text)
	}
	return string(text)
}

// TestBeatTellsTheNewestProgress: once a minute a run says that it is alive, and not after its end.
func TestBeatTellsTheNewestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, _ := newTestApp(nil)
		a.now = time.Now
		o := &runOptions{app: a, settings: newSettings(), hooks: &hooks{}}
		var alive []annotator.Notice
		o.bus.Subscribe(notify.Subscriber{Notice: func(n annotator.Notice) {
			if n.Kind == annotator.NoticeAlive {
				alive = append(alive, n)
			}
		}})
		stop := o.beat()
		time.Sleep(90 * time.Second)
		o.bus.Publish(annotator.Notice{Kind: annotator.NoticeScene, Scene: 7, Done: 6, Total: 9})
		time.Sleep(60 * time.Second)
		o.bus.Publish(annotator.Notice{Kind: annotator.NoticeEnd, Done: 9, Total: 9})
		time.Sleep(90 * time.Second)
		stop()
		if err := o.bus.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(alive) != 1 || alive[0].Scene != 7 || alive[0].Done != 6 || alive[0].Total != 9 {
			t.Errorf("%d notices: %+v", len(alive), alive)
		}
	})
}
