package web

import (
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/storage"
)

// snapshotList is a page of snapshots, newest first.
type snapshotList struct {
	Snapshots []annotator.Snapshot
	Older     int64 // the next page begins below this id; 0: there is none
}

func showSnapshots(r *request) (*page, error) {
	found, err := r.view.Snapshots(r.Context(), storage.SnapshotQuery{
		Before: r.queryNumber("before"),
		Limit:  pageSize + 1,
	})
	list := snapshotList{Snapshots: found}
	if len(found) > pageSize {
		list.Snapshots, list.Older = found[:pageSize], found[pageSize-1].ID
	}
	return &page{template: "snapshots", Title: "Snapshots", Section: "snapshots", Data: list}, err
}

// snapshotPage is a snapshot, with a question to it and its answer if one was asked.
type snapshotPage struct {
	annotator.Snapshot
	Memory   []annotator.Episode // the summaries in force
	CanAsk   bool
	Question string
	Answer   []answerPart
}

// answerPart is a piece of an answer: text, or a post that it cites.
type answerPart struct {
	Text string
	Post int64 // 0: text
}

func showSnapshot(r *request, id int64) (*page, error) {
	shown, err := r.snapshot(id)
	if err != nil {
		return nil, err
	}
	return &page{template: "snapshot", Title: fmt.Sprintf("Snapshot %d", shown.ID), Section: "snapshots", Data: shown},
		nil
}

// snapshot reads a snapshot.
func (r *request) snapshot(id int64) (*snapshotPage, error) {
	s, err := r.view.Snapshot(r.Context(), id)
	if err != nil {
		return nil, err
	}
	memory, err := r.db.DB.Episodes.At(r.Context(), &s)
	memory = slices.DeleteFunc(memory, func(e annotator.Episode) bool {
		return strings.HasPrefix(e.Summary, annotator.NoStory)
	})
	return &snapshotPage{Snapshot: s, Memory: memory, CanAsk: r.db.server.Asker != nil}, err
}

// maxQuestion is the length of a question, in bytes.
const maxQuestion = 4000

func askSnapshot(r *request, id int64) (*page, error) {
	shown, err := r.snapshot(id)
	if err != nil {
		return nil, err
	}
	question := strings.TrimSpace(r.PostFormValue("question"))
	switch {
	case !shown.CanAsk:
		return nil, annotator.Errorf(annotator.Misused, "no endpoint is configured")
	case question == "" || len(question) > maxQuestion:
		return nil, annotator.Errorf(annotator.Misused, "a question has 1 to %d bytes", maxQuestion)
	}
	if err := r.extendTimeout(AnswerTimeout); err != nil {
		return nil, err
	}
	answer, err := r.db.server.Asker.Ask(r.Context(), r.db.DB, shown.ID, question)
	if err != nil {
		return nil, err
	}
	shown.Question = question
	if shown.Answer, err = r.linkPosts(answer); err != nil {
		return nil, err
	}
	return &page{template: "snapshot", Title: fmt.Sprintf("Snapshot %d", shown.ID), Section: "snapshots", Data: shown},
		nil
}

// linkPosts splits an answer at the posts that it cites. A post after the limit is not a link.
func (r *request) linkPosts(answer string) (parts []answerPart, err error) {
	last := 0
	for _, cited := range codex.Citations(answer) {
		parts = append(parts, answerPart{Text: answer[last:cited.Start]})
		for _, id := range cited.Posts {
			_, err := r.view.PlaceOf(r.Context(), id)
			switch {
			case err == nil && len(parts) > 0 && parts[len(parts)-1].Post != 0:
				parts = append(parts, answerPart{Text: " "}, answerPart{Post: id})
			case err == nil:
				parts = append(parts, answerPart{Post: id})
			case isNotFound(err):
				parts = append(parts, answerPart{Text: fmt.Sprintf("[post %d]", id)})
			default:
				return nil, err
			}
		}
		last = cited.End
	}
	return append(parts, answerPart{Text: answer[last:]}), nil
}
