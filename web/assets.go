package web

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

// asset is a style sheet, a script or a picture.
type asset struct {
	content     []byte
	contentType string
	version     string // of the content, in its URL
}

func readAssets(static fs.FS) (map[string]asset, error) {
	assets := map[string]asset{}
	err := fs.WalkDir(static, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(static, name)
		sum := sha256.Sum256(content)
		assets[name] = asset{content, mime.TypeByExtension(path.Ext(name)), hex.EncodeToString(sum[:6])}
		return err
	})
	return assets, err
}

// asset returns the URL of an asset, which changes with its content.
func (s *Server) asset(name string) string { return "/static/" + name + "?" + s.assets[name].version }

func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	a, ok := s.assets[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.content)
}
