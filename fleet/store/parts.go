package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Reasons why a story is not joined, and why its parts stay as they are.
var (
	ErrParts = errors.New("not all parts of the story are read")
	ErrBegun = errors.New("the story was begun otherwise")
)

// Parts names the parts of a story. A part has a manifest and copies of its own, so each name is used like a story's.
func Parts(story string, parts int) (names []string) {
	for i := range parts {
		names = append(names, fmt.Sprintf("%s/part%dof%d", story, i+1, parts))
	}
	return names
}

// PartOf returns the story of a name, and which part of how many it is; 0 of 0: it is the story itself.
func PartOf(name string) (story string, part, parts int) {
	story, rest, _ := strings.Cut(name, "/")
	_, _ = fmt.Sscanf(rest, "part%dof%d", &part, &parts)
	return story, part, parts
}

// Cut has a story read in that many parts, which are joined then; 1: as one. Parts of another number that were read are
// left. The error is ErrBegun once the story or its join was begun.
func (s *Store) Cut(ctx context.Context, story string, parts int) error {
	if err := CheckName(story); err != nil {
		return err
	}
	if parts == 1 {
		parts = 0
	}
	return s.update(ctx, story, func(m *Manifest) (done bool, err error) {
		switch {
		case m.Parts == parts:
			return true, nil
		case m.Fence > 0:
			return false, fmt.Errorf("%w: %s has %d parts", ErrBegun, story, max(m.Parts, 1))
		}
		m.State, m.TTL, m.Parts = Free, s.TTL, parts
		return false, nil
	})
}

// update changes a manifest, whoever has the story, until it is found to be changed.
func (s *Store) update(ctx context.Context, story string, change func(*Manifest) (done bool, err error)) error {
	for {
		m, tag, err := s.Read(ctx, story)
		if err != nil {
			return err
		}
		if done, err := change(&m); done || err != nil {
			return err
		}
		m.Version++
		_, err = s.put(ctx, story, &m, cmp.Or(tag, Absent))
		if err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, ErrConflict) {
			return fmt.Errorf("change the manifest of %s: %w", story, err)
		}
	}
}

// checkParts returns ErrParts unless the parts of a story are read.
func (s *Store) checkParts(ctx context.Context, story string, parts int) error {
	for _, part := range Parts(story, parts) {
		m, _, err := s.Read(ctx, part)
		if err != nil {
			return err
		}
		if m.State != Done {
			return ErrParts
		}
	}
	return nil
}
