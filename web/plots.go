package web

import (
	"fmt"

	"annotator/view"
)

// plotGroups is the maximum number of groups of scenes in a plot.
const plotGroups = 72

// plotsPage shows the tokens of a run and the size of its window.
type plotsPage struct {
	Costs       []view.SceneCost
	Tokens      chart
	Sizes       []view.WindowSize
	Window      chart
	Compactions []view.CompactionRow
	More        int // compactions that are not listed
	Group       int // scenes of a bar
}

func showPlots(r *request) (*page, error) {
	ctx := r.Context()
	last, err := r.view.lastScene(ctx)
	if err != nil {
		return nil, err
	}
	last = max(last, 1)
	p := &plotsPage{Group: (last + plotGroups - 1) / plotGroups}
	if p.Costs, err = r.view.Costs(ctx, p.Group); err != nil {
		return nil, err
	}
	if p.Sizes, err = r.view.WindowSizes(ctx, p.Group); err != nil {
		return nil, err
	}
	if p.Compactions, err = r.view.Compactions(ctx); err != nil {
		return nil, err
	}
	p.Tokens, p.Window = tokenChart(p.Costs, last), windowChart(p.Sizes, p.Compactions, last)
	const listed = 200
	if n := len(p.Compactions); n > listed {
		p.Compactions, p.More = p.Compactions[n-listed:], n-listed
	}
	return &page{template: "plots", Title: "Plots", Section: "plots", Data: p}, nil
}

// tokenChart draws the tokens of each group of scenes: those from the server's cache, the others, and the replies.
func tokenChart(costs []view.SceneCost, scenes int) chart {
	c := newChart("Tokens for each group of scenes", scenes)
	for i := range costs {
		c.reach(costs[i].Usage.Prompt + costs[i].Usage.Completion)
	}
	for i := range costs {
		u := costs[i].Usage
		at := c.column(costs[i].From, costs[i].To)
		at.Title = fmt.Sprintf("Scenes %d to %d: %s tokens in, %s of them cached, %s out", costs[i].From, costs[i].To,
			groupDigits(u.Prompt), groupDigits(u.Cached), groupDigits(u.Completion))
		c.stack(at, []int{u.Cached, u.Prompt - u.Cached, u.Completion}, []string{"cached", "uncached", "reply"})
	}
	c.grid()
	return c
}

// windowChart draws the size of the window after each group of scenes, with a mark for each compaction.
func windowChart(sizes []view.WindowSize, compactions []view.CompactionRow, scenes int) chart {
	c := newChart("Tokens of the window, with its compactions", scenes)
	for i := range sizes {
		c.reach(sizes[i].Most)
	}
	for i := range compactions {
		c.reach(compactions[i].Before)
	}
	for i := range sizes {
		at := c.column(sizes[i].From, sizes[i].To)
		at.Title = fmt.Sprintf("Scenes %d to %d: %s to %s tokens", sizes[i].From, sizes[i].To,
			groupDigits(sizes[i].Least), groupDigits(sizes[i].Most))
		c.stack(at, []int{sizes[i].Least, sizes[i].Most - sizes[i].Least}, []string{"least", "most"})
	}
	for i := range compactions {
		if compactions[i].Scene > 0 {
			c.mark(compactions[i].Scene, compactions[i].Before, compactions[i].After, "Tier "+compactions[i].Tier)
		}
	}
	c.grid()
	return c
}
