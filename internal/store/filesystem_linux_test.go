package store

import (
	"errors"
	"strings"
	"testing"
)

func TestNetworkFileSystemsAreRecognised(t *testing.T) {
	for _, c := range []struct {
		magic uint32
		mount string
		want  string
	}{
		{0x6969, "", "NFS"}, {0xff534d42, "", "CIFS"}, {0xfe534d42, "", "SMB"}, {0x01021997, "", "9P"}, {0x0bd00bd0, "", "Lustre"},
		{0x47504653, "", "GPFS"}, {0x00c36400, "", "Ceph"}, {0x65735546, "fuse.sshfs", "sshfs"}, {0x65735546, "fuse.rclone", "rclone"},
		{0x65735546, "fuseblk", ""}, {0x65735546, "fuse.fuse-overlayfs", ""}, {0x65735546, "", ""},
		{0xef53, "", ""}, {0x01021994, "", ""}, {0x794c7630, "", ""}, {0x9123683e, "", ""}, // ext4, tmpfs, overlay, btrfs
	} {
		// statfs gives a number that some systems extend with its sign.
		for _, magic := range []int64{int64(c.magic), int64(int32(c.magic))} {
			if got := networkName(magic, func() string { return c.mount }); got != c.want {
				t.Errorf("%#x %s: got %q, want %q", magic, c.mount, got, c.want)
			}
		}
	}
	if kind := mountType("/proc"); kind != "proc" {
		t.Errorf("the mount table says that /proc is %q", kind)
	}
	if err := refuseNetwork(t.TempDir() + "/not/made/yet"); err != nil && !errors.As(err, new(*NetworkError)) {
		t.Error(err)
	}
	if text := (&NetworkError{"lab", "NFS"}).Error(); !strings.Contains(text, "--lab") {
		t.Error(text)
	}
}
