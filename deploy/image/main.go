// Command image writes the image of annotator, built from nothing, as an OCI layout. It needs no daemon.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is nobody on any machine, by the custom of small images.
const user = 65532

// A release is what an image says of itself.
type release struct {
	name, version, revision, source string
	created                         time.Time
}

func main() {
	var r release
	flag.StringVar(&r.name, "name", "annotator", "registry and repository")
	flag.StringVar(&r.version, "version", "", "version of the program")
	flag.StringVar(&r.revision, "revision", "", "commit")
	flag.StringVar(&r.source, "source", "", "address of the source")
	created := flag.Int64("created", 0, "time in seconds since 1970")
	out := flag.String("o", "image", "folder to write")
	flag.Parse() // arguments are ARCHITECTURE=FOLDER
	r.created = time.Unix(*created, 0).UTC()
	folders := map[string]string{}
	for _, arg := range flag.Args() {
		architecture, folder, _ := strings.Cut(arg, "=")
		folders[architecture] = folder
	}
	if err := write(*out, r, folders); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write makes a layout with one index of images, each with the files of its architecture's folder.
func write(out string, r release, folders map[string]string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range slices.Sorted(maps.Keys(folders)) {
		image, err := build(r, architecture, folders[architecture])
		if err != nil {
			return err
		}
		platform := &v1.Platform{OS: "linux", Architecture: architecture}
		of := v1.Descriptor{Platform: platform}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: of})
	}
	path, err := layout.Write(out, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.name + ":" + r.version,
	}))
}

func build(r release, architecture, folder string) (v1.Image, error) {
	files, err := layer(r, folder)
	if err != nil {
		return nil, err
	}
	content, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.created}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: architecture, Created: created,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       fmt.Sprintf("%d:%d", user, user),
			Entrypoint: []string{"/annotator"},
			WorkingDir: "/data",
			Env:        []string{"HOME=/data"},
			StopSignal: "SIGINT", // finishes the scene
			Labels:     r.labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	history := v1.History{Created: created, CreatedBy: "deploy/image"}
	return mutate.Append(image, mutate.Addendum{Layer: content, History: history})
}

func (r release) labels() map[string]string {
	labels := map[string]string{
		"title": "annotator", "description": "Reads long stories scene by scene and keeps a codex of them",
		"version": r.version, "revision": r.revision, "source": r.source,
		"created": r.created.Format(time.RFC3339), "licenses": "Apache-2.0",
	}
	full := map[string]string{}
	for name, value := range labels {
		if value != "" {
			full["org.opencontainers.image."+name] = value
		}
	}
	return full
}

// layer returns a folder's files, certificates to check servers by, and two folders: for stories and what is temporary.
func layer(r release, folder string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(header tar.Header, content []byte) error {
		header.Size, header.ModTime, header.Format = int64(len(content)), r.created, tar.FormatPAX
		if err := w.WriteHeader(&header); err != nil {
			return err
		}
		_, err := w.Write(content)
		return err
	}
	err := errors.Join(
		add(tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o700, Uid: user, Gid: user}, nil),
		add(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil),
		add(tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, certificates()))
	if err != nil {
		return nil, err
	}
	files := os.DirFS(folder)
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		mode := int64(0o644) // whatever the umask was
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return add(tar.Header{Name: path, Mode: mode}, text)
	})
	if err = cmp.Or(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// certificates are Mozilla's roots as of go.mod, and so the same on every machine. Roots that Mozilla trusts only for
// certificates before a day are left out, since a file of certificates cannot say so.
func certificates() []byte {
	out := bytes.NewBufferString("# Root certificates of Mozilla's programme, licensed under the MPL 2.0\n")
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return out.Bytes()
}
