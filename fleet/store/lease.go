package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Reasons why a story cannot be taken, and why a lease ends.
var (
	ErrHeld     = errors.New("another worker has the story")
	ErrFinished = errors.New("nothing is left to do for the story")
	ErrLost     = errors.New("the lease is lost")

	errTaken = errors.New("another has written the manifest")
)

const (
	renewals  = 3           // in a TTL
	pause     = time.Second // before a failed write is tried again
	keepsFor  = time.Hour   // a copy that is no longer named, for readers that have begun
	safeShare = 0.8         // of the TTL, for which a holder trusts its lease: clocks run at different speeds
)

// Lease is the right to work on a story. It ends when its context does.
type Lease struct {
	store           *Store
	story           string
	ctx             context.Context // ends when the lease is lost or given back
	end             context.CancelCauseFunc
	turn            chan struct{} // who takes its value may write the manifest
	renewal, expiry *time.Timer

	m   Manifest
	tag string
	at  time.Time // when the request began that wrote m: it cannot have been seen before
}

// Acquire takes a story if nobody has it. A lease is over when its version has not changed for a TTL by the clock of
// who looks. So this must be called again and again. The manifest as it was is returned, too. Of a story in parts, the
// join is taken.
func (s *Store) Acquire(ctx context.Context, story, owner string) (_ *Lease, before Manifest, err error) {
	before, tag, err := s.Read(ctx, story)
	if err != nil {
		return nil, before, err
	}
	m := before
	switch before.State {
	case Done, Failed:
		return nil, before, ErrFinished
	case Held:
		if !s.isOver(story, &before) {
			return nil, before, ErrHeld
		}
		m.abandon(fmt.Sprintf("%s was lost after %d scenes", before.Owner, before.Scene))
	default:
		if err := s.checkParts(ctx, story, before.Parts); err != nil {
			return nil, before, err
		}
	}
	if m.State != Failed {
		m.State, m.Owner, m.Token, m.TTL = Held, owner, rand.Text(), s.TTL
		m.Fence++
	}
	held, end := context.WithCancelCause(context.WithoutCancel(ctx))
	l := &Lease{store: s, story: story, ctx: held, end: end, turn: make(chan struct{}, 1), m: before, tag: tag}
	if tag == "" {
		l.tag = Absent
	}
	l.at = time.Now()
	if err := l.write(ctx, m); err != nil {
		if errors.Is(err, errTaken) {
			err = ErrHeld
		}
		return nil, before, err
	}
	if m.State == Failed {
		end(nil)
		return nil, l.m, ErrFinished
	}
	l.turn <- struct{}{}
	l.renewal = time.AfterFunc(s.TTL/renewals, l.renew)
	l.expiry = time.AfterFunc(l.trusted(), func() { l.end(fmt.Errorf("%w: no renewal was answered in time", ErrLost)) })
	return l, before, nil
}

// isOver reports whether a manifest has been the same for a TTL, as far as this process has looked.
func (s *Store) isOver(story string, m *Manifest) bool {
	seen := s.seen[story]
	if seen.version != m.Version {
		s.seen[story] = sighting{m.Version, time.Now()}
		return false
	}
	return time.Since(seen.since) >= max(m.TTL, s.TTL)
}

// Context ends with the lease. Its cause is ErrLost, or nil if the lease was given back.
func (l *Lease) Context() context.Context { return l.ctx }

// Manifest returns the manifest as it was last written.
func (l *Lease) Manifest() Manifest {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	return l.m
}

// renew runs on a timer of its own, so that nothing that a worker does delays it.
func (l *Lease) renew() {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	if l.ctx.Err() == nil && l.write(l.ctx, l.m) == nil {
		l.renewal.Reset(l.store.TTL / renewals)
	}
}

// trusted is how long the lease surely lasts from now on: nobody can have seen it before its last renewal began.
func (l *Lease) trusted() time.Duration {
	return time.Duration(safeShare*float64(l.store.TTL)) - time.Since(l.at)
}

// change writes the manifest anew.
func (l *Lease) change(ctx context.Context, change func(*Manifest)) error {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return l.changeNow(ctx, change)
}

func (l *Lease) changeNow(ctx context.Context, change func(*Manifest)) error {
	m := l.m
	m.Abandoned = slices.Clone(m.Abandoned)
	change(&m)
	return l.write(ctx, m)
}

// Commit uploads a copy of the story's database and names it in the manifest. Whoever takes the story next begins from
// there. A copy that is not named, because the lease was lost meanwhile, is never read.
func (l *Lease) Commit(ctx context.Context, database []byte, scene, scenes int) error {
	packed, err := Pack(database)
	if err != nil {
		return err
	}
	sum := digest(database)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	m := l.Manifest()
	key := fmt.Sprintf("%sfence-%06d/%06d-%s.db.zst", l.store.copies(l.story), m.Fence, scene, sum[:16])
	if _, err := l.store.Put(ctx, key, packed, Always); err != nil {
		if l.ctx.Err() != nil {
			err = context.Cause(l.ctx)
		}
		return fmt.Errorf("upload a copy of %s: %w", l.story, err)
	}
	err = l.change(ctx, func(m *Manifest) {
		if scene > m.Scene {
			m.Abandoned = nil
		}
		m.Scene, m.Scenes, m.Copy, m.Digest = scene, scenes, key, sum
		m.Bytes = int64(len(packed))
		m.Uploaded += m.Bytes
	})
	if err == nil {
		l.clean(ctx, key, m.Fence)
	}
	return err
}

// Pack compresses a database as Commit does.
func Pack(database []byte) ([]byte, error) {
	writer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return writer.EncodeAll(database, nil), writer.Close()
}

// clean removes copies that were not named for long, by the clock of the store. Errors are left to the next commit.
// Copies of a later fence stay, since this lease may be lost without knowing it.
func (l *Lease) clean(ctx context.Context, named string, fence int64) {
	objects, err := l.store.List(ctx, l.store.copies(l.story)+"fence-") // and not those of its parts
	if err != nil {
		return
	}
	var now time.Time
	for _, o := range objects {
		if o.Key == named {
			now = o.Changed
		}
	}
	later := fmt.Sprintf("%sfence-%06d/", l.store.copies(l.story), fence+1)
	for _, o := range objects {
		if o.Key != named && strings.Compare(o.Key, later) < 0 && now.Sub(o.Changed) > keepsFor {
			_ = l.store.Delete(ctx, o.Key)
		}
	}
}

// Finish gives the lease back: the story was read to its end, with that exit status.
func (l *Lease) Finish(ctx context.Context, status int) error {
	return l.giveBack(ctx, func(m *Manifest) { m.State, m.Status = Done, status })
}

// Fail gives the lease back: another attempt would fail likewise.
func (l *Lease) Fail(ctx context.Context, reason string) error {
	return l.giveBack(ctx, func(m *Manifest) {
		m.Abandoned = append(m.Abandoned, reason)
		m.State = Failed
	})
}

// Abandon gives the lease back, because of a fault.
func (l *Lease) Abandon(ctx context.Context, reason string) error {
	return l.giveBack(ctx, func(m *Manifest) { m.abandon(reason) })
}

// Release gives the lease back, so that another worker may take the story at once.
func (l *Lease) Release(ctx context.Context) error {
	return l.giveBack(ctx, func(m *Manifest) { m.State = Free })
}

func (l *Lease) giveBack(ctx context.Context, change func(*Manifest)) error {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	l.end(nil) // the write may take place although its answer is lost
	l.renewal.Stop()
	l.expiry.Stop()
	return l.changeNow(ctx, change)
}

// write replaces the manifest by its next version. After each failure it reads what is stored: a write without an
// answer may have taken place, and then a server refuses the second attempt.
func (l *Lease) write(ctx context.Context, m Manifest) error {
	m.Version = l.m.Version + 1
	m.Expires = time.Now().Add(m.TTL).UTC().Truncate(time.Second)
	ctx, cancel := context.WithTimeout(ctx, l.trusted())
	defer cancel()
	for {
		began := time.Now()
		tag, err := l.store.put(ctx, l.story, &m, l.tag)
		var stored Manifest
		if err != nil && !errors.Is(err, ErrConflict) {
			var failed error
			if stored, tag, failed = l.store.Read(ctx, l.story); failed == nil && stored.isSame(&m) {
				err = nil
			} else if failed == nil && tag != l.tag && (tag != "" || l.tag != Absent) {
				return l.lose(fmt.Errorf("%w: %w: version %d of %s", ErrLost, errTaken, stored.Version, stored.Owner))
			}
		}
		if err == nil {
			l.m, l.tag, l.at = m, tag, began
			if l.expiry != nil && l.ctx.Err() == nil {
				l.expiry.Reset(l.trusted())
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return l.lose(fmt.Errorf("%w: the manifest could not be written in time: %w", ErrLost, err))
		case <-time.After(pause):
		}
	}
}

func (l *Lease) lose(err error) error {
	l.end(err)
	return err
}

func (m *Manifest) isSame(other *Manifest) bool {
	return m.Version == other.Version && m.Token == other.Token
}

// put writes a manifest under a condition.
func (s *Store) put(ctx context.Context, story string, m *Manifest, condition string) (tag string, err error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", err
	}
	return s.Put(ctx, s.manifest(story), append(data, '\n'), condition)
}
