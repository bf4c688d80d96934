package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"annotator"
	"annotator/view"
	"annotator/web"
)

// shareSuffix follows the name of a database in the name of the file with the key of its shared links.
const shareSuffix = ".share"

// readShareKey reads the key of shared links. It returns nil if there is none, or makes one.
func readShareKey(path string, create bool) ([]byte, error) {
	if create {
		key := make([]byte, web.ShareKeySize)
		_, _ = rand.Read(key) // it never fails
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.Write(key)
			err = errors.Join(err, file.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, annotator.Errorf(annotator.Misused, "make the key of shared links: %w", err).
				WithAdvice("serve a database in a folder that can be written")
		}
	}
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(key) != web.ShareKeySize {
		err = errors.New("it is no such key")
	}
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the key of shared links in %s: %w", path, err).
			WithAdvice("remove the file, and --share makes another")
	}
	return key, nil
}

// sharedPaths returns the paths of the links that --share asks for, one for each database.
func (o *serveOptions) sharedPaths(ctx context.Context, options *web.Options) (paths []string, err error) {
	if o.share == "" {
		return nil, nil
	}
	point, err := view.ParsePoint(o.share)
	if err != nil {
		return nil, err
	}
	for i := range options.Databases {
		d := &options.Databases[i]
		shown := view.At(d.DB, d.Limit)
		found, err := shown.Resolve(ctx, point)
		if err == nil {
			_, err = shown.LimitAt(ctx, found)
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, web.SharedPath(d.Name, d.ShareKey, found))
	}
	return paths, nil
}
