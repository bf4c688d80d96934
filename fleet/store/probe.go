package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// ErrUnfit says that a store does not keep the conditions of writes: two workers could both have a story.
var ErrUnfit = errors.New("the store does not keep the conditions of writes, and cannot be used")

const writers = 16 // at the same time, in a probe

// Probe writes to the store as workers do, several at the same time, and checks that one of them wins. It fails with
// ErrUnfit, or with an error of the store.
func Probe(ctx context.Context, s *Store) error {
	key := s.Prefix + "probes/" + rand.Text()
	defer func() { _ = s.Delete(context.WithoutCancel(ctx), key) }()
	if _, err := s.Put(ctx, key, []byte("missing"), `"0123456789abcdef0123456789abcdef"`); err == nil {
		return unfit("a missing object was replaced")
	} else if !errors.Is(err, ErrChanged) {
		return refused(err)
	}
	stale := ""
	for condition := Absent; ; {
		tag, err := race(ctx, s, key, condition)
		if err != nil {
			return err
		}
		if stale != "" {
			break
		}
		stale, condition = tag, tag
	}
	for condition, what := range map[string]string{
		stale:  "an object was replaced that had changed meanwhile",
		Absent: "an object was made that there was",
	} {
		if _, err := s.Put(ctx, key, []byte(what), condition); err == nil {
			return unfit("%s", what)
		} else if !errors.Is(err, ErrChanged) && !errors.Is(err, ErrConflict) {
			return refused(err)
		}
	}
	return nil
}

// race has several writers write at the same time under the same condition, and returns the tag of the only winner.
func race(ctx context.Context, s *Store, key, condition string) (string, error) {
	type outcome struct {
		text string
		tag  string
		err  error
	}
	suffix := ", condition " + condition
	outcomes := make(chan outcome, writers)
	var attempts [writers]func()
	for i := range attempts {
		attempts[i] = func() {
			text := fmt.Sprintf("writer %d%s", i, suffix)
			tag, err := s.Put(ctx, key, []byte(text), condition)
			outcomes <- outcome{text, tag, err}
		}
		go attempts[i]()
	}
	var won []outcome
	var failure error
	for range attempts {
		switch o := <-outcomes; {
		case o.err == nil:
			won = append(won, o)
		case !errors.Is(o.err, ErrChanged) && !errors.Is(o.err, ErrConflict):
			failure = o.err
		}
	}
	if failure != nil {
		return "", refused(failure)
	}
	if len(won) > 1 {
		return "", unfit("%d of %d writers at the same time have won, condition %s", len(won), writers, condition)
	}
	stored, tag, err := s.Get(ctx, key)
	if err != nil && !errors.Is(err, ErrMissing) {
		return "", refused(err)
	}
	if !strings.HasSuffix(string(stored), suffix) { // the answer to the winner may have been lost
		return "", unfit("none of %d writers has won, condition %s", writers, condition)
	}
	if len(won) == 1 && (string(stored) != won[0].text || tag != won[0].tag) {
		return "", unfit("it holds another object than the winner wrote")
	}
	return tag, nil
}

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnfit, fmt.Sprintf(format, args...))
}

// refused explains an error that says nothing about conditions, such as one of the credentials.
func refused(err error) error { return fmt.Errorf("write to the store: %w", err) }
