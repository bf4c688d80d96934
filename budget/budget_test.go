package budget_test

import (
	"testing"

	"annotator"
	"annotator/budget"

	"pgregory.net/rapid"
)

// TestLowered: a lower context leaves a quarter of it to replies, and too low a one is refused.
func TestLowered(t *testing.T) {
	t.Parallel()
	b := budget.Budget{Wanted: 32_000, MaxReply: 3_000, Margin: 500}
	if b.Begin() || b.ReplyTo(0) != 31_500 || b.Prompt() != 28_500 {
		t.Errorf("%+v has %d for a prompt", b, b.Prompt())
	}
	for _, context := range []int{0, -1, 32_000, 40_000} {
		if b.Tell(context); b.Update(0) {
			t.Errorf("a context of %d lowers the budget to %+v", context, b)
		}
	}
	if b.Tell(8_000); !b.Update(0) || b.Context() != 8_000 || b.Reply() != 2_000 || b.Update(0) {
		t.Errorf("lowered to %+v", b)
	}
	if err := b.Check(5_500 - budget.MinScene); err != nil {
		t.Error(err)
	}
	if err := b.Check(5_501 - budget.MinScene); annotator.KindOf(err) != annotator.Misused {
		t.Errorf("a token too few for a scene: %v", err)
	}
}

// TestShown: a context that a cut reply shows counts if a scene fits.
func TestShown(t *testing.T) {
	t.Parallel()
	b := budget.Budget{MaxReply: 1_000}
	b.Begin()
	if b.Shown = 3_000; b.Update(2_000) || b.Server() != 0 {
		t.Errorf("a context without room for a scene counts: %+v", b)
	}
	if b.Shown = 9_000; !b.Update(2_000) || b.Told != 9_000 || b.Context() != 9_000 {
		t.Errorf("it does not count: %+v", b)
	}
}

// TestBudgetHolds: a prompt with its longest reply and the margin stays within the wanted tokens and the server's
// context. The order in which contexts become known does not matter.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.IntRange(0, 200_000)
		b := budget.Budget{Wanted: tokens.Draw(t, "wanted"), Margin: 500}
		b.MaxReply = rapid.SampledFrom([]int{0, 1, 3_000, 10_000}).Draw(t, "set")
		b.Listed, b.Configured = tokens.Draw(t, "listed"), tokens.Draw(t, "configured")
		b.Wanted = b.Usual() // as a run does: what it learns later never raises its budget
		b.Begin()
		for range 5 {
			before := b.Context()
			switch rapid.IntRange(0, 3).Draw(t, "learn") {
			case 0:
				b.Tell(tokens.Draw(t, "told"))
			case 1:
				b.Shown = tokens.Draw(t, "shown")
			case 2:
				b.Loaded = tokens.Draw(t, "loaded")
			case 3:
				b.Replies = tokens.Draw(t, "replies")
			}
			lowered := b.Update(2_000)
			if lowered != (b.Context() < before) || b.Context() > before {
				t.Fatalf("%d tokens, then %d", before, b.Context())
			}
			whole := b.Prompt() + b.Reply() + b.Margin
			if server := b.Server(); whole != b.Context() || server > 0 && whole > server ||
				b.Wanted > 0 && whole > b.Wanted {
				t.Fatalf("%d tokens of %+v", whole, b)
			}
			holdsReplies(t, &b, rapid.IntRange(0, b.Context()).Draw(t, "prompt"))
		}
	})
}

// holdsReplies demands that the reply to a prompt fits. It has as many tokens as the user has set, or as the server is
// known to take. Where nobody has set it, a prompt that fits leaves 4,096 tokens, or a quarter of a small budget.
func holdsReplies(t *rapid.T, b *budget.Budget, prompt int) {
	t.Helper()
	longest, quarter := b.Longest(prompt), b.Context()/4
	left := max(b.ReplyTo(prompt), 1)
	most := quarter
	if b.MaxReply > 0 {
		if most = b.MaxReply; b.Context() < b.Usual() {
			most = min(most, quarter)
		}
	}
	least := min(most, 4_096)
	if b.MaxReply > 0 {
		least = most
	}
	switch {
	case b.Reply() != least:
		t.Fatalf("%d tokens are left for a reply, not %d: %+v", b.Reply(), least, b)
	case longest < 1 || longest > left || longest > max(most, 1):
		t.Fatalf("a reply of %d tokens to a prompt of %d: %+v", longest, prompt, b)
	case prompt <= b.Prompt() && longest < least:
		t.Fatalf("a prompt of %d tokens leaves %d for its reply, not %d: %+v", prompt, longest, least, b)
	case b.Replies == 0 && longest != max(1, min(most, left)):
		t.Fatalf("a reply of %d tokens, of %d that are left: %+v", longest, left, b)
	case b.Replies > 0 && longest > max(b.Replies, least):
		t.Fatalf("a reply of %d tokens, and the server takes %d: %+v", longest, b.Replies, b)
	}
}
