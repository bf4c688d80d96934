package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    longHelp("Print the version of this program, and the toolchain and platform that it was built for."),
		Example: "  annotator version",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.out, version())
			return nil
		},
	}
}

// version describes the build, as far as it is stamped.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "annotator (unknown)"
	}
	return fmt.Sprintf("annotator %s, %s, %s/%s", info.Main.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
