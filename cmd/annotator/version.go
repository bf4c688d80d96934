package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    longHelp("Print the version of this program, and the toolchain and platform that it was built for."),
		Example: "  annotator version",
	}
	return a.prints(cmd, func(context.Context, []string) (result, error) {
		return message{version(), map[string]string{"version": version(), "go": runtime.Version()}}, nil
	})
}

// release is the version that this source is, or leads to.
const release = "1.0.0"

// version describes the release and the build, as far as it is stamped.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "annotator " + release
	}
	return fmt.Sprintf("annotator %s (%s), %s, %s/%s",
		release, strings.Trim(info.Main.Version, "()"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
