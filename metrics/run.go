package metrics

import (
	"slices"
	"time"

	"annotator"
	"annotator/storage"
)

// add adds a sample to a metric. The suffix of its name is empty but for histograms. Labels are names and values.
type add func(suffix string, value float64, labels ...string)

// runMetric is a metric of each database.
type runMetric struct {
	Metric
	samples func(*figures, add)
}

// one returns the samples of a metric without labels, of databases with a run.
func one(value func(*figures) float64) func(*figures, add) {
	return func(f *figures, add add) {
		if f.Run.Started != 0 {
			add("", value(f))
		}
	}
}

func runMetrics() []runMetric {
	return slices.Concat(stateMetrics(), sceneMetrics(), codexMetrics(), callMetrics())
}

// stateMetrics are those of whether a run goes on.
func stateMetrics() []runMetric {
	return []runMetric{
		{
			Metric{"annotator_database_readable", "gauge", "", "1 if the database could be read, else 0"},
			func(f *figures, add add) { add("", oneIf(f.readable)) },
		},
		{
			Metric{
				"annotator_run_info", "gauge", "title, model",
				"1; the labels are the title of the story and the model of the run",
			},
			func(f *figures, add add) {
				if f.Run.Started != 0 {
					add("", 1, "title", f.Run.Corpus.Title, "model", f.Run.Model)
				}
			},
		},
		{
			Metric{"annotator_run_active", "gauge", "", "1 while a process annotates the story, else 0"},
			one(func(f *figures) float64 { return oneIf(f.active) }),
		},
		{
			Metric{"annotator_run_halted", "gauge", "", "1 if the last run stopped before its end, else 0"},
			one(func(f *figures) float64 { return oneIf(f.Run.Halted != "") }),
		},
		{
			Metric{
				"annotator_run_written_time_seconds", "gauge", "",
				"when the run last wrote to its database, in seconds since 1970",
			},
			one(func(f *figures) float64 { return float64(f.Run.Updated) / 1000 }),
		},
		{
			Metric{
				"annotator_server_silent_since_seconds", "gauge", "",
				"since when the model server does not answer, in seconds since 1970; 0 if it does",
			},
			one(func(f *figures) float64 {
				if f.Report.Silent.IsZero() {
					return 0
				}
				return float64(f.Report.Silent.UnixMilli()) / 1000
			}),
		},
	}
}

// sceneMetrics are those of scenes, and of the time that they take.
func sceneMetrics() []runMetric {
	return []runMetric{
		{
			Metric{
				"annotator_scenes", "gauge", "state",
				"scenes of the story: recorded, quarantined (put aside with a reason) or pending",
			},
			func(f *figures, add add) {
				if f.Run.Started != 0 {
					add("", float64(f.Run.Recorded), "state", "recorded")
					add("", float64(f.Run.Quarantined), "state", "quarantined")
					add("", float64(f.left()), "state", "pending")
				}
			},
		},
		{
			Metric{
				"annotator_scene_duration_seconds", "gauge", "",
				"mean time from one scene's end to the next, of the newest 30",
			},
			one(func(f *figures) float64 { return f.Report.SceneTime.Seconds() }),
		},
		{
			Metric{
				"annotator_remaining_seconds", "gauge", "",
				"estimated time until the last scene is done; 0 unless the run is active",
			},
			one(func(f *figures) float64 {
				return oneIf(f.active) * (time.Duration(f.left()) * f.Report.SceneTime).Seconds()
			}),
		},
	}
}

// left returns the number of scenes that have no outcome.
func (f *figures) left() int { return f.Run.Corpus.Scenes - f.Run.Recorded - f.Run.Quarantined }

// codexMetrics are those of what a run has made.
func codexMetrics() []runMetric {
	return []runMetric{
		{
			Metric{"annotator_entries", "gauge", "status", "entries of the codex by their status"},
			func(f *figures, add add) {
				if f.Run.Started != 0 {
					for _, status := range []annotator.Status{
						annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged,
					} {
						add("", float64(f.Report.Entries[status]), "status", string(status))
					}
				}
			},
		},
		{
			Metric{"annotator_revisions_total", "counter", "", "changes of entries"},
			one(func(f *figures) float64 { return float64(f.Report.Revisions) }),
		},
		{
			Metric{"annotator_compactions_total", "counter", "tier", "steps that made room in the window of the model"},
			func(f *figures, add add) {
				for _, t := range f.Report.Compactions {
					add("", float64(t.Count), "tier", t.Tier)
				}
			},
		},
		{
			Metric{"annotator_window_tokens", "gauge", "", "tokens of the newest prompt for a scene"},
			one(func(f *figures) float64 { return float64(f.Window) }),
		},
		{
			Metric{
				"annotator_context_budget_tokens", "gauge", "",
				"tokens that a prompt and its reply may have together; 0 before the first request",
			},
			one(func(f *figures) float64 { return float64(f.Run.Budget) }),
		},
		{
			Metric{"annotator_database_bytes", "gauge", "", "size of the database, without its log"},
			one(func(f *figures) float64 { return float64(f.Bytes) }),
		},
	}
}

// callMetrics are those of requests to the model. Calls that a killed process left are not among them.
func callMetrics() []runMetric {
	return []runMetric{
		{
			Metric{
				"annotator_calls_total", "counter", "purpose, outcome",
				"requests to the model that ended; outcome is ok or the kind of the failure",
			},
			func(f *figures, add add) {
				for i := range f.Calls {
					c := &f.Calls[i]
					add("", float64(c.Count), "purpose", string(c.Purpose), "outcome", c.Outcome)
				}
			},
		},
		tokens("annotator_prompt_tokens_total", "tokens of prompts",
			func(u *annotator.Usage) int { return u.Prompt }),
		tokens("annotator_prompt_told_tokens_total", "those of prompts for which the server tells cached ones",
			func(u *annotator.Usage) int { return u.Told }),
		tokens("annotator_prompt_cached_tokens_total", "those of prompts that the server had in its prefix cache",
			func(u *annotator.Usage) int { return u.Cached }),
		tokens("annotator_completion_tokens_total", "tokens of replies",
			func(u *annotator.Usage) int { return u.Completion }),
		durations("annotator_call_duration_seconds", "time of requests that were answered",
			func(c *storage.CallFigures) *storage.Durations { return &c.Duration }),
		durations("annotator_call_first_byte_seconds", "time of such requests until the first byte of the reply",
			func(c *storage.CallFigures) *storage.Durations { return &c.FirstByte }),
	}
}

// tokens returns a metric of tokens by purpose.
func tokens(name, help string, count func(*annotator.Usage) int) runMetric {
	return runMetric{Metric{name, "counter", "purpose", help}, func(f *figures, add add) {
		for _, calls := range f.byPurpose() {
			sum := 0
			for i := range calls {
				sum += count(&calls[i].Usage)
			}
			add("", float64(sum), "purpose", string(calls[0].Purpose))
		}
	}}
}

// byPurpose returns the calls in groups with one purpose each. They are sorted by it.
func (f *figures) byPurpose() (groups [][]storage.CallFigures) {
	for rest := f.Calls; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(c storage.CallFigures) bool { return c.Purpose != rest[0].Purpose })
		if n < 0 {
			n = len(rest)
		}
		groups, rest = append(groups, rest[:n]), rest[n:]
	}
	return groups
}

// durations returns a histogram of the answered calls by purpose.
func durations(name, help string, of func(*storage.CallFigures) *storage.Durations) runMetric {
	return runMetric{Metric{name, "histogram", "purpose", help}, func(f *figures, add add) {
		for i := range f.Calls {
			c := &f.Calls[i]
			if c.Outcome != "ok" {
				continue
			}
			purpose, d := string(c.Purpose), of(c)
			for k, bound := range storage.Bounds() {
				add("_bucket", float64(d.Within[k]), "purpose", purpose, "le", number(bound.Seconds()))
			}
			add("_bucket", float64(c.Count), "purpose", purpose, "le", "+Inf")
			add("_sum", d.Sum.Seconds(), "purpose", purpose)
			add("_count", float64(c.Count), "purpose", purpose)
		}
	}}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
