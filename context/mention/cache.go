package mention

import (
	"context"
	"maps"
	"slices"
)

// Source is where the names of live entries are read.
type Source interface {
	// Names returns the names of all live entries, by entry; with ids, those of these entries only.
	Names(ctx context.Context, ids ...int64) (map[int64][]string, error)
}

// Cache is the index of the names in a source. It reads a name again only after its entry was invalidated.
type Cache struct {
	source Source
	index  *Index // nil until it is needed
	stale  []int64
}

// NewCache returns a cache that reads its source when it is first asked for the index.
func NewCache(source Source) *Cache { return &Cache{source: source} }

// Invalidate says that the names of entries may have changed.
func (c *Cache) Invalidate(entries ...int64) {
	if c.index != nil {
		c.stale = append(c.stale, entries...)
	}
}

// Index returns the index of the names as they are now in the source.
func (c *Cache) Index(ctx context.Context) (*Index, error) {
	if c.index != nil && len(c.stale) == 0 {
		return c.index, nil
	}
	names, err := c.source.Names(ctx, c.stale...)
	if err != nil {
		return nil, err
	}
	if c.index == nil {
		c.index = New()
		c.stale = slices.Collect(maps.Keys(names))
	}
	for _, entry := range c.stale {
		c.index.SetNames(entry, names[entry])
	}
	c.stale = nil
	return c.index, nil
}
