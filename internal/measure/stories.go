package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"annotator/batch"
	"annotator/internal/scripted"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/openai"
	"annotator/runner"
	"annotator/runner/notify"
)

// The server of several stories, and what they read. Its cache has room for as many contexts as it has slots.
const (
	slots        = 8
	timeScale    = 1.0 / 8
	storyScenes  = 14
	storyContext = 22_000 // tokens, at the end
)

// storiesTables measures several stories at once, with admission and without.
func (o *options) storiesTables(ctx context.Context) (map[string]string, error) {
	var rows [][]string
	for _, stories := range []int{1, 2, 4, 8, 16, 32} {
		for _, admits := range []bool{true, false} {
			if stories <= slots && !admits {
				continue // it would admit all
			}
			row, err := o.readStories(ctx, stories, admits)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return map[string]string{"stories": markdown([]string{
		"stories", "admission", "scenes an hour", "slots busy, %", "of the prompts cached, %", "at once, at most",
	}, rows)}, nil
}

// readStories reads a number of stories in this process.
func (o *options) readStories(ctx context.Context, stories int, admits bool) ([]string, error) {
	server := scripted.New(scripted.Options{Strict: true, Pace: &scripted.Pace{
		Slots: slots, Prefill: 5_000, Decode: 40, Pool: (slots*storyContext*100 + 84) / 85, Scale: timeScale,
	}})
	client, err := endpoint.New(endpoint.Options{BaseURL: serverURL, HTTP: inProcess{server}}, endpoint.API{
		Header: endpoint.Bearer,
	})
	if err != nil {
		return nil, err
	}
	admission := batch.NewAdmission(stories, serverURL)
	if admits {
		admission = batch.NewAdmission(1, serverURL)
		following, end := context.WithCancel(ctx)
		defer end()
		go admission.Follow(following, &batch.Watch{
			Context: storyContext, Every: time.Duration(5 * timeScale * float64(time.Second)),
			Servers: []func(context.Context) (model.Load, error){client.Load},
		})
	}
	count := counter{ends: make([]time.Time, 0, stories)}
	began := time.Now()
	var whole time.Duration // until the first story ended that no other followed
	var busy time.Duration
	errs := batch.Run(stories, func(i int) error {
		defer func() {
			count.mu.Lock()
			defer count.mu.Unlock()
			if count.ends = append(count.ends, time.Now()); len(count.ends) == max(1, stories-slots+1) {
				whole, busy = time.Since(began), server.Busy()
			}
		}()
		return o.readOne(ctx, i, admission, server, &count)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%d stories: %w", stories, err)
	}
	took, usage := time.Since(began), server.Usage()
	if broken := server.Violations(); len(broken) > 0 {
		return nil, fmt.Errorf("%d stories broke the template: %v", stories, broken[0])
	}
	with := map[bool]string{true: "yes", false: "no"}[admits]
	return []string{
		fmt.Sprint(stories), with,
		count64(float64(stories*storyScenes) / (took.Seconds() / timeScale) * 3600),
		fmt.Sprintf("%.1f", 100*busy.Seconds()/(whole.Seconds()*float64(min(slots, stories)))),
		fmt.Sprintf("%.1f", 100*float64(usage.Cached)/float64(usage.Prompt)), fmt.Sprint(count.most),
	}, nil
}

func count64(x float64) string { return count(int64(x)) }

// counter counts the stories that are read at once.
type counter struct {
	mu      sync.Mutex
	reading int
	most    int
	ends    []time.Time
}

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading += n
	c.most = max(c.most, c.reading)
}

const serverURL = "http://scripted/v1"

// readOne reads one of several stories, of which each has scenes of its own.
func (o *options) readOne(ctx context.Context, i int, admission *batch.Admission, server *scripted.Server,
	c *counter,
) error {
	place := admission.Queue(i, fmt.Sprint(i))
	if err := place.Enter(ctx); err != nil {
		return err
	}
	defer place.Leave()
	c.add(1)
	defer c.add(-1)
	story := filepath.Join(o.folder, fmt.Sprintf("story%d.corpus.db", i))
	f := files{corpus: story, db: filepath.Join(o.folder, fmt.Sprintf("%d-%d.db", time.Now().UnixNano(), i))}
	if _, err := os.Stat(story); err != nil {
		if err := writeScenes(ctx, story, 1+i*threadScenes, storyScenes); err != nil {
			return err
		}
	}
	config := runner.Defaults()
	config.Endpoint, config.ContextBudget = serverURL, 65_536
	run, err := prepare(ctx, f, config, inProcess{server}, &notify.Bus{})
	if err != nil {
		return err
	}
	wire, err := openai.New(endpoint.Options{BaseURL: serverURL, HTTP: inProcess{server}})
	if err != nil {
		return errors.Join(err, run.close())
	}
	run.runner.Client.Wire, run.runner.Turn = batch.NewWire(place, []model.Wire{wire}), place.Turn
	return errors.Join(run.runner.Run(ctx), run.close())
}
