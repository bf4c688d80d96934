package tools

import (
	"context"
	"fmt"

	"annotator"
)

type readThreadRangeArguments struct {
	ThreadID    int64  `json:"thread_id" jsonschema:"its id"`
	StartPostID int64  `json:"start_post_id,omitempty" jsonschema:"default: the first"`
	EndPostID   int64  `json:"end_post_id,omitempty" jsonschema:"default: the last that is read"`
	TagFilter   string `json:"tag_filter,omitempty" shown:"hidden" jsonschema:"only posts with this tag; qm_post tells the story"`
}

// maxRange is the maximum number of posts that one call reads.
const maxRange = 50

func readThreadRange(ctx context.Context, env *Env, a readThreadRangeArguments) (Result, error) {
	posts, err := env.Posts.Range(ctx, a.ThreadID, a.StartPostID, a.EndPostID, a.TagFilter, maxRange+1)
	if annotator.KindOf(err) == annotator.NotFound {
		return Result{}, emptyRange(a, err.Error())
	}
	if err != nil {
		return Result{}, err
	}
	read, note, err := env.filterReadable(ctx, posts)
	if err != nil {
		return Result{}, err
	}
	if len(read) == 0 {
		return Result{}, emptyRange(a, note)
	}
	if len(read) > maxRange {
		note = fmt.Sprintf("more posts follow; go on with start_post_id %d", read[maxRange].ID)
		read = read[:maxRange]
	}
	return postsResult(read, 0, note, env.maxContent()), nil
}

func emptyRange(a readThreadRangeArguments, why string) error {
	message := fmt.Sprintf("thread %d holds no post in this range", a.ThreadID)
	if a.TagFilter != "" {
		message += fmt.Sprintf(" with the tag %.60q", a.TagFilter)
	}
	if why != "" {
		message += "; " + why
	}
	return failf(EmptyRange, "%s", message)
}
