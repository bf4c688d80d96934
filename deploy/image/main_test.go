package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestImage reads back what was written: every digest, the settings, and the files with their owners and modes. Written
// again, elsewhere and with other times and modes of files, it has the same digest.
func TestImage(t *testing.T) {
	t.Parallel()
	r := release{name: "example/annotator", version: "1.2.3", revision: "abc", created: time.Unix(1e9, 0).UTC()}
	name, index := readBack(t, written(t, r, 0o755))
	_, again := readBack(t, written(t, r, 0o700))
	one, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if two, err := again.Digest(); one != two {
		t.Errorf("the same files give %s and %s: %v", one, two, err)
	}
	if name != "example/annotator:1.2.3" {
		t.Errorf("it is named %q", name)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var architectures []string
	for _, m := range manifest.Manifests {
		architectures = append(architectures, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image, m.Platform.Architecture)
	}
	if got := strings.Join(architectures, " "); got != "linux/amd64 linux/arm64" {
		t.Errorf("it is for %s", got)
	}
}

// written makes a layout of two programs whose files have that mode.
func written(t *testing.T, r release, mode os.FileMode) layout.Path {
	t.Helper()
	out, folders := t.TempDir(), map[string]string{}
	for _, architecture := range []string{"amd64", "arm64"} {
		folder := t.TempDir()
		folders[architecture] = folder
		for name, mode := range map[string]os.FileMode{
			"annotator": mode, "usr/share/doc/annotator/LICENSE": mode &^ 0o111,
		} {
			path := filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(name+" for "+architecture), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := write(out, r, folders); err != nil {
		t.Fatal(err)
	}
	return layout.Path(out)
}

// readBack returns the name and the one index of a layout.
func readBack(t *testing.T, path layout.Path) (string, v1.ImageIndex) {
	t.Helper()
	all, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("it has %d images", len(manifest.Manifests))
	}
	one := manifest.Manifests[0]
	index, err := all.ImageIndex(one.Digest)
	if err != nil {
		t.Fatal(err)
	}
	return one.Annotations["org.opencontainers.image.ref.name"], index
}

func checkImage(t *testing.T, image v1.Image, architecture string) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	got := fmt.Sprint(config.OS, config.Architecture, c.User, c.Entrypoint, c.Cmd, c.WorkingDir, c.Env, c.StopSignal,
		c.Labels)
	want := "linux" + architecture + " 65532:65532 [/annotator] [] /data [HOME=/data] SIGINT " +
		"map[org.opencontainers.image.created:2001-09-09T01:46:40Z " +
		"org.opencontainers.image.description:Reads long stories scene by scene and keeps a codex of them " +
		"org.opencontainers.image.licenses:Apache-2.0 org.opencontainers.image.revision:abc " +
		"org.opencontainers.image.title:annotator org.opencontainers.image.version:1.2.3]"
	if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("settings are\n%s, want\n%s", got, want)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	files, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	all, err := io.ReadAll(files)
	if err != nil {
		t.Fatal(err)
	}
	if len(all)%512 != 0 || !bytes.HasSuffix(all, make([]byte, 1024)) {
		t.Error("the files have no end")
	}
	listed := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(all)); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		listed[header.Name] = fmt.Sprintf("%d:%d %o", header.Uid, header.Gid, header.Mode)
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch header.Name {
		case "annotator":
			if string(text) != "annotator for "+architecture {
				t.Errorf("the program of %s is %q", architecture, text)
			}
		case "etc/ssl/certs/ca-certificates.crt":
			if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(text) {
				t.Error("no certificates")
			}
		}
	}
	wanted := map[string]string{
		"annotator": "0:0 755", "data/": "65532:65532 700", "tmp/": "0:0 1777",
		"etc/ssl/certs/ca-certificates.crt": "0:0 644", "usr/share/doc/annotator/LICENSE": "0:0 644",
	}
	if got, want := fmt.Sprint(listed), fmt.Sprint(wanted); got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
}
