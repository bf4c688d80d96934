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
		b := budget.Budget{Wanted: tokens.Draw(t, "wanted"), MaxReply: 3_000, Margin: 500}
		b.Listed, b.Configured = tokens.Draw(t, "listed"), tokens.Draw(t, "configured")
		b.Begin()
		for range 5 {
			before := b.Context()
			switch rapid.IntRange(0, 2).Draw(t, "learn") {
			case 0:
				b.Tell(tokens.Draw(t, "told"))
			case 1:
				b.Shown = tokens.Draw(t, "shown")
			case 2:
				b.Loaded = tokens.Draw(t, "loaded")
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
		}
	})
}
