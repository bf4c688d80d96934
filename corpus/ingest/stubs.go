package ingest
import "context"
func (j *job) epub(ctx context.Context, s source) error {return nil}
func (j *job) html(ctx context.Context, s source) error {return nil}
