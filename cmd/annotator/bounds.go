package main

import (
	"context"
	"time"

	"annotator"
	"annotator/runner"
	"annotator/storage"

	"github.com/spf13/pflag"
)

// boundFlags declares the settings that end a run before its story ends, and those of what tokens cost.
func (c *Config) boundFlags(s *pflag.FlagSet) {
	b := &c.Bounds
	countFlag(s, &b.Tokens, "max-tokens-total", 0, 0, "stop at a checkpoint when prompts and replies have had "+
		"`TOKENS` in all, earlier runs on the database included; 0: no bound")
	moneyFlag(s, &b.Cost, "max-cost", "stop at a checkpoint when the tokens have cost `MONEY`, by the prices; 0: no "+
		"bound")
	s.StringVar(&c.Until, "until", "", "stop at a checkpoint at this `TIME`: 07:30 (the next), \"2006-01-02 07:30\", "+
		"or a time from now such as 8h; empty: no bound")
	moneyFlag(s, &b.Price.In, "price-in", "`MONEY` for a million tokens of prompts")
	moneyFlag(s, &b.Price.Cached, "price-cached", "`MONEY` for a million tokens of prompts that the server has "+
		"cached; unless it is set, as --price-in")
	moneyFlag(s, &b.Price.Out, "price-out", "`MONEY` for a million tokens of replies")
}

// moneyFlag declares a flag that takes an amount of money.
func moneyFlag(s *pflag.FlagSet, value *float64, name, usage string) {
	s.Float64Var(value, name, 0, usage)
	restrict(s, name, "an amount of at least 0", nil, func() bool { return *value >= 0 && *value < 1e12 })
}

// loadBounds reads the time of the bounds, and completes the prices.
func (s *settings) loadBounds(now time.Time) (err error) {
	b := &s.Bounds
	if s.sources["price-cached"] == defaultSource {
		b.Price.Cached = b.Price.In
	}
	if b.Cost > 0 && b.Price == (runner.Price{}) {
		return annotator.Errorf(annotator.Misused, "--max-cost needs what tokens cost").
			WithAdvice("give --price-in and --price-out, for a million tokens")
	}
	b.Until, err = parseUntil(s.Until, now)
	return err
}

// parseUntil reads a time to come: a time of day, a date with a time of day, or a duration.
func parseUntil(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	if at, err := time.ParseInLocation("15:04", text, now.Location()); err == nil {
		y, m, d := now.Date()
		until := time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, now.Location())
		if !until.After(now) {
			until = time.Date(y, m, d+1, at.Hour(), at.Minute(), 0, 0, now.Location())
		}
		return until, nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, annotator.Errorf(annotator.Misused, "--until takes a time, not %q", text).
		WithAdvice(`as in --until 07:30, --until "2006-01-02 07:30" or --until 8h`)
}

// shareBounds makes several runs have their bounds together, by the paths of their databases. What is in these counts
// from the beginning. A database that cannot be read is reported by its own run.
func (o *runOptions) shareBounds(ctx context.Context, databases ...string) {
	o.Bounds.Ledger = &runner.Ledger{}
	for _, path := range databases {
		if o.noResume || !exists(path) {
			continue
		}
		_ = withDatabase(ctx, path, func(db *storage.DB) error {
			used, err := db.Run.Used(ctx)
			if err == nil {
				o.Bounds.Ledger.Note(path, used)
			}
			return err
		})
	}
}
