package notify_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/runner/notify"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector is a subscriber that receives as many notices as the test allows.
type collector struct {
	got []annotator.Notice
	let chan struct{} // nil: all
}

func (c *collector) notice(n annotator.Notice) {
	if c.let != nil {
		<-c.let
	}
	c.got = append(c.got, n)
}

func ids(notices []annotator.Notice) []int64 {
	all := make([]int64, len(notices))
	for i := range notices {
		all[i] = notices[i].Turn
	}
	return all
}

// TestBusInOrder: a subscriber that keeps up receives all notices in order, whatever the others do.
func TestBusInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var bus notify.Bus
		subscribers := make([]collector, rapid.IntRange(0, 4).Draw(t, "subscribers"))
		closed := make([]bool, len(subscribers))
		for i := range subscribers {
			bus.Subscribe(notify.Subscriber{Notice: subscribers[i].notice, Close: func() error {
				closed[i] = true
				return nil
			}})
		}
		n := rapid.IntRange(0, 200).Draw(t, "notices")
		var want []int64
		for i := range n {
			bus.Publish(annotator.Notice{Turn: int64(i), Kind: annotator.NoticeTool})
			want = append(want, int64(i))
		}
		if err := bus.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		bus.Publish(annotator.Notice{Turn: -1})
		for i := range subscribers {
			if got := ids(subscribers[i].got); !slices.Equal(got, want) || !closed[i] {
				t.Fatalf("subscriber %d of %d saw %v of %v; closed: %v", i, len(subscribers), got, want, closed[i])
			}
		}
	})
}

// TestBusCountsLost lets a subscriber receive some notices now and then while very many are published. Each of them is
// received, replaced by a newer one of the same stream, or counted as lost where it is missing.
func TestBusCountsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(*testing.T) {
			var bus notify.Bus
			slow := collector{let: make(chan struct{})}
			bus.Subscribe(notify.Subscriber{Notice: slow.notice})
			var published []annotator.Notice
			rounds := rapid.IntRange(1, 6).Draw(rt, "rounds")
			for range rounds {
				stream := rapid.IntRange(2, 20).Draw(rt, "every so many is of a stream")
				for range rapid.IntRange(0, 12_000).Draw(rt, "published") {
					n := annotator.Notice{Turn: int64(len(published)), Kind: annotator.NoticeTool}
					if len(published)%stream < 2 {
						n.Kind = annotator.NoticeStream
					}
					published = append(published, n)
					bus.Publish(n)
				}
				for range rapid.IntRange(0, 9_000).Draw(rt, "taken in") {
					synctest.Wait()
					select {
					case slow.let <- struct{}{}:
					default:
					}
				}
			}
			close(slow.let)
			if err := bus.Close(context.Background()); err != nil {
				rt.Fatal(err)
			}
			account(rt, published, slow.got)
		})
	})
}

// account accounts for each published notice.
func account(t *rapid.T, published, got []annotator.Notice) {
	next, lost := 0, 0
	for i, n := range got {
		if n.Kind == annotator.NoticeLost {
			if lost = n.Lost; lost == 0 || i+1 < len(got) && got[i+1].Kind == annotator.NoticeLost {
				t.Fatalf("notice %d says that %d were lost", i, n.Lost)
			}
			continue
		}
		at := int(n.Turn)
		if at < next+lost {
			t.Fatalf("%d came where %d were expected and %d lost", at, next, lost)
		}
		for _, missing := range published[next+lost : at] {
			if missing.Kind != annotator.NoticeStream || n.Kind != annotator.NoticeStream {
				t.Fatalf("%d is missing before %d, and nothing says so", missing.Turn, at)
			}
		}
		next, lost = at+1, 0
	}
	if next+lost != len(published) {
		t.Fatalf("%d were published; %d is the last seen, and %d are told as lost behind it", len(published), next-1,
			lost)
	}
}

// TestBusNeverWaits tests a subscriber that never returns. It does not delay the others, delays Close by a bounded
// time, and holds at most a full queue in memory.
func TestBusNeverWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var bus notify.Bus
		forever := make(chan struct{}) // is how long they take for the first notice
		printer, screen := collector{let: forever}, collector{let: forever}
		var quick collector
		bus.Subscribe(notify.Subscriber{Name: "the printer", Notice: printer.notice})
		bus.Subscribe(notify.Subscriber{Notice: screen.notice})
		bus.Subscribe(notify.Subscriber{Notice: quick.notice, Close: func() error {
			return errors.New("the disk is full")
		}})
		began := time.Now()
		for i := range 20_000 {
			bus.Publish(annotator.Notice{Turn: int64(i)})
			if i%1000 == 0 {
				synctest.Wait() // or the machine's load decides who keeps up
			}
		}
		synctest.Wait() // what came to who keeps up is that one's until its goroutine rests
		if waited := time.Since(began); waited != 0 || len(quick.got) != 20_000 {
			t.Errorf("publishing took %s, and %d notices came to who keeps up", waited, len(quick.got))
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		err := bus.Close(ctx)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("the end took %s", took)
		}
		text := fmt.Sprint(err)
		if !errors.Is(err, annotator.Storage) || strings.Count(text, "has not read") != 1 ||
			!strings.Contains(text, "the printer has not read its notices") ||
			!strings.Contains(text, "the disk is full") {
			t.Errorf("the end says %v", err)
		}
		close(forever)
		if err := bus.Close(context.Background()); err == nil || strings.Contains(err.Error(), "printer") {
			t.Errorf("when the printer is done the bus says %v", err)
		}
		const held = 1 + 8192 // the one in hand, and a full queue
		if last := len(printer.got) - 1; last != held || printer.got[last].Kind != annotator.NoticeLost ||
			printer.got[last].Lost != 20_000-held {
			t.Errorf("the printer was kept %d notices, and told of %d that are lost", last, printer.got[last].Lost)
		}
	})
}

// TestBusSurvivesPanic: a subscriber that panics is closed and receives nothing more; the others are unaffected.
func TestBusSurvivesPanic(t *testing.T) {
	t.Parallel()
	var bus notify.Bus
	var calm collector
	told, closed := 0, false
	bus.Subscribe(notify.Subscriber{Name: "the clown", Notice: func(annotator.Notice) {
		told++
		panic("a pie")
	}, Close: func() error {
		closed = true
		panic("another")
	}})
	bus.Subscribe(notify.Subscriber{Notice: calm.notice})
	for range 1000 {
		bus.Publish(annotator.Notice{})
	}
	err := bus.Close(context.Background())
	if err == nil || !strings.Contains(err.Error(), "the clown") || !strings.Contains(err.Error(), "a pie") ||
		!strings.Contains(err.Error(), "another") {
		t.Errorf("the end says %v", err)
	}
	if told != 1 || !closed || len(calm.got) != 1000 {
		t.Errorf("who panicked was told %d notices, closed: %v; the other %d", told, closed, len(calm.got))
	}
}

// TestBusKeepsNewestOfStream: only the newest notice of a reply matters, so at most one waits.
func TestBusKeepsNewestOfStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var bus notify.Bus
		slow := collector{let: make(chan struct{})}
		bus.Subscribe(notify.Subscriber{Notice: slow.notice})
		bus.Publish(annotator.Notice{Turn: 1, Kind: annotator.NoticeCalling})
		synctest.Wait()
		for i := range 100_000 {
			bus.Publish(annotator.Notice{Turn: 2, Kind: annotator.NoticeStream, Bytes: i})
		}
		bus.Publish(annotator.Notice{Turn: 3, Kind: annotator.NoticeCall})
		close(slow.let)
		if err := bus.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ids(slow.got); !slices.Equal(got, []int64{1, 2, 3}) || slow.got[1].Bytes != 99_999 {
			t.Errorf("the subscriber saw %v, of the stream %+v", got, slow.got[1])
		}
	})
}

// TestBusIdle: no goroutine runs after the last notice is delivered, even without Close. TestMain checks it.
func TestBusIdle(t *testing.T) {
	t.Parallel()
	var bus notify.Bus
	done := make(chan struct{})
	bus.Publish(annotator.Notice{})
	bus.Subscribe(notify.Subscriber{Notice: func(annotator.Notice) { close(done) }})
	bus.Publish(annotator.Notice{})
	<-done
}

// BenchmarkPublish measures the cost of a notice, with the subscribers that receive it.
func BenchmarkPublish(b *testing.B) {
	for _, subscribers := range []int{0, 1, 3} {
		b.Run(fmt.Sprintf("subscribers=%d", subscribers), func(b *testing.B) {
			var bus notify.Bus
			for range subscribers {
				bus.Subscribe(notify.Subscriber{Notice: func(annotator.Notice) {}})
			}
			b.ReportAllocs()
			for b.Loop() {
				bus.Publish(annotator.Notice{Kind: annotator.NoticeTool})
			}
			if err := bus.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
