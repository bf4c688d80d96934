package runner

import (
	"context"
	"slices"

	"annotator/storage"
	"annotator/tools"
)

// A scene takes one request if an edit of the reply says that the scene is finished. A model that does not say so is
// asked whether there is more. Earlier scenes show whether that is worth a request.
const (
	maxFruitless = 5  // follow-ups in a row that bring nothing, after which they are left out
	tryEvery     = 10 // scenes: in each tenth that would have had a follow-up it is tried again
)

// need says what follows a reply whose calls have their results.
type need int

const (
	needNone    need = iota // the scene ends: an edit says that it is worked through, and nothing is left to act on
	needUnknown             // nothing is left to act on, and the model does not say whether there is more
	needRequest             // the model has something to act on
)

// severalWithin is how many scenes before the present one are searched for a reply with several calls.
const severalWithin = 10

// followUps decides whether the model is asked for more after its calls.
type followUps struct{ *reading }

func (r *Runner) followUps() *followUps { return &followUps{&r.reading} }

// firstSeveral returns the number of the scene's first reply at which the model has made several calls in one reply. It
// is 0 if it has in one of the scenes before, and larger than any reply if it never has. A model may make one call a
// reply, and call each edit the last one. Without this check it looks like a model that has a single thing to note.
func (r *followUps) firstSeveral(ctx context.Context) (int, error) {
	before, err := r.Store.Journal.SeveralCalls(ctx, r.scene.turn, severalWithin)
	if before || err != nil {
		return 0, err
	}
	reply := 1
	for reply <= r.scene.history.replies && len(r.scene.history.of(reply)) < 2 {
		reply++
	}
	return reply, nil
}

// needAfter returns what follows a reply of the present scene. Any edit may say that the scene is finished, which is
// believed of a model that makes several calls in a reply. Where something was refused, it is believed the second time.
func (r *followUps) needAfter(reply int, believed bool) need {
	edits, done, refused := false, false, false
	for _, call := range r.scene.history.of(reply) {
		tool, _ := r.tools.Tool(call.tool)
		switch {
		case call.outcome == tools.Left || tool.Permission == tools.Reads || tool.Permission == tools.Summons:
			return needRequest
		case r.edits(call.tool):
			edits, done = true, done || call.done
		}
		refused = refused || call.outcome == tools.Refused
	}
	keptOpen := done && r.scene.history.keptOpen(reply)
	switch {
	case !edits, refused && !keptOpen: // without edits, it only declared an intent
		return needRequest
	case done && believed:
		return needNone
	}
	return needUnknown
}

func (r *followUps) edits(name string) bool {
	tool, _ := r.tools.Tool(name)
	return tool.Permission == tools.Writes || tool.Permission == tools.Retires
}

// callsEndScene reports whether the scene ends with the calls of the newest reply.
func (r *followUps) callsEndScene(ctx context.Context) (bool, error) {
	first, err := r.firstSeveral(ctx)
	if err != nil {
		return false, err
	}
	switch replies := r.scene.history.replies; r.needAfter(replies, replies >= first) {
	case needNone:
		return true, nil
	case needUnknown:
		past, err := r.Store.Scenes.FollowUps(ctx, NewestFollowUps)
		return FollowUpsEnd(past) && !tryAgain(past), err
	}
	return false, nil
}

// NewestFollowUps is how many of the newest findings decide about the next follow-up. They are recorded with their
// scenes, so a resumed run decides as an uninterrupted one.
const NewestFollowUps = maxFruitless * tryEvery

// FollowUpsEnd reports whether follow-ups are omitted after scenes with these findings, newest first: the newest
// follow-ups had no result.
func FollowUpsEnd(newest []storage.FollowUp) bool {
	fruitless := 0
	for _, f := range newest {
		if f == storage.FollowUpNothing {
			fruitless++
		}
		if f == storage.FollowUpEdits || fruitless == maxFruitless {
			break
		}
	}
	return fruitless == maxFruitless
}

// tryAgain reports whether enough scenes have had no follow-up since the last.
func tryAgain(newest []storage.FollowUp) bool {
	tried := slices.IndexFunc(newest, func(f storage.FollowUp) bool { return f != storage.FollowUpLeftOut })
	return tried >= tryEvery-1
}

// followUp returns the finding of the present scene about follow-ups, at its end. A follow-up without a result is no
// finding if each reply of the scene made a single call. A model that makes one call a reply has to be asked again. It
// is a finding after follow-ups were omitted, and where the call said that the scene is done.
func (r *followUps) followUp(ctx context.Context) (storage.FollowUp, error) {
	h, asked, several := &r.scene.history, false, false
	first, err := r.firstSeveral(ctx)
	if err != nil {
		return "", err
	}
	for reply := 1; reply <= h.replies; reply++ {
		calls := h.of(reply)
		several = several || len(calls) > 1 || len(calls) == 1 && calls[0].done
		switch {
		case asked && r.edited(reply):
			return storage.FollowUpEdits, nil
		case r.needAfter(reply, reply >= first) != needUnknown:
		case reply == h.replies:
			return storage.FollowUpLeftOut, nil
		default:
			asked = true
		}
	}
	if asked && !several {
		past, err := r.Store.Scenes.FollowUps(ctx, NewestFollowUps)
		if err != nil {
			return "", err
		}
		asked = FollowUpsEnd(past)
	}
	if asked {
		return storage.FollowUpNothing, nil
	}
	return storage.FollowUpNone, nil
}

// edited reports whether a reply has changed the glossary.
func (r *followUps) edited(reply int) bool {
	h := &r.scene.history
	return h.updated == reply || slices.ContainsFunc(h.of(reply), func(c pastCall) bool {
		return c.code == "" && r.edits(c.tool)
	})
}
