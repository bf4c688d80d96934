package turn

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

// FollowUps decides whether the model is asked for more after its calls.
type FollowUps struct {
	*State
	Turn    int64
	Tools   *tools.Registry
	Journal *storage.Journal
	Scenes  *storage.Scenes
}

// need says what follows a reply whose calls have their results.
type need int

const (
	needNone    need = iota // the scene ends: an edit says that it is worked through, and nothing is left to act on
	needUnknown             // nothing is left to act on, and the model does not say whether there is more
	needRequest             // the model has something to act on
)

// severalWithin is how many scenes before the present one are searched for a reply with several calls.
const severalWithin = 10

// firstSeveral returns the index of the scene's first reply at which the model has made several calls in one reply. It
// is 0 if it has in one of the scenes before, and that after the newest reply if it never has. A model may make one
// call a reply, and call each edit the last one. Without this check it looks like a model that has a single thing to
// note.
func (f *FollowUps) firstSeveral(ctx context.Context) (int, error) {
	before, err := f.Journal.SeveralCalls(ctx, f.Turn, severalWithin)
	if before || err != nil {
		return 0, err
	}
	at := slices.IndexFunc(f.replies, func(r reply) bool { return len(r.calls) > 1 })
	if at < 0 {
		at = len(f.replies)
	}
	return at, nil
}

// needAfter returns what follows a reply. Any edit may say that the scene is finished, which is believed of a model
// that makes several calls in a reply. Where something was refused, it is believed the second time.
func (f *FollowUps) needAfter(at int, believed bool) need {
	r := &f.replies[at]
	edits, done := false, false
	for _, call := range r.calls {
		switch permission := f.permission(call.tool); {
		case call.outcome == tools.Left || permission == tools.Reads || permission == tools.Summons:
			return needRequest
		case f.edits(call.tool):
			edits, done = true, done || call.done
		}
	}
	keptOpen := done && keptOpen(f.replies[:at])
	switch {
	case !edits, r.has(tools.Refused) && !keptOpen: // without edits, it only declared an intent
		return needRequest
	case done && believed:
		return needNone
	}
	return needUnknown
}

func (f *FollowUps) permission(name string) tools.Permission {
	tool, _ := f.Tools.Tool(name)
	return tool.Permission
}

func (f *FollowUps) edits(name string) bool {
	permission := f.permission(name)
	return permission == tools.Writes || permission == tools.Retires
}

// SceneEnds reports whether the scene ends with the calls of the newest reply.
func (f *FollowUps) SceneEnds(ctx context.Context) (bool, error) {
	first, err := f.firstSeveral(ctx)
	if err != nil {
		return false, err
	}
	switch newest := len(f.replies) - 1; f.needAfter(newest, newest >= first) {
	case needNone:
		return true, nil
	case needUnknown:
		past, err := f.Scenes.FollowUps(ctx, NewestFollowUps)
		return FollowUpsEnd(past) && !tryAgain(past), err
	}
	return false, nil
}

// Finding returns the finding of the scene about follow-ups, at its end. A follow-up without a result is no finding if
// each reply of the scene made a single call. A model that makes one call a reply has to be asked again. It is a
// finding after follow-ups were omitted, and where the call said that the scene is done.
func (f *FollowUps) Finding(ctx context.Context) (storage.FollowUp, error) {
	asked, several := false, false
	first, err := f.firstSeveral(ctx)
	if err != nil {
		return "", err
	}
	for at := range f.replies {
		r := &f.replies[at]
		several = several || len(r.calls) > 1 || len(r.calls) == 1 && r.calls[0].done
		switch {
		case asked && f.edited(r):
			return storage.FollowUpEdits, nil
		case f.needAfter(at, at >= first) != needUnknown:
		case at == len(f.replies)-1:
			return storage.FollowUpLeftOut, nil
		default:
			asked = true
		}
	}
	if asked && !several {
		past, err := f.Scenes.FollowUps(ctx, NewestFollowUps)
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
func (f *FollowUps) edited(r *reply) bool {
	return r.updated || slices.ContainsFunc(r.calls, func(c pastCall) bool { return c.code == "" && f.edits(c.tool) })
}
