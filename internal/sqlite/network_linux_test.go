package sqlite_test

import (
	"testing"

	"annotator/internal/sqlite"
)

// TestNetworkName tests numbers of file systems in Linux's magic.h.
func TestNetworkName(t *testing.T) {
	t.Parallel()
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x517b: "SMB", 0x5346414f: "AFS", 0x00c36400: "Ceph",
		0x65735546: "FUSE", 0x01021997: "9p",
		// ext4, btrfs, xfs, tmpfs, overlay
		0xef53: "", 0x9123683e: "", 0x58465342: "", 0x01021994: "", 0x794c7630: "", 0: "",
	} {
		if got := sqlite.NetworkName(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	if name := sqlite.NetworkName(sqlite.FileSystem(t.TempDir())); name != "" {
		t.Errorf("the temporary folder is on %s", name)
	}
	if magic := sqlite.FileSystem("/no/such/folder"); magic != 0 {
		t.Errorf("a folder that is not there is on %#x", magic)
	}
}
