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
		{0xef53, "fuse.sshfs", ""}, {0xef53, "", ""}, {0x01021994, "", ""}, {0x794c7630, "", ""}, {0x9123683e, "", ""}, // ext4, tmpfs, overlay, btrfs
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
	for table, want := range map[string]string{
		"": "", "1 2 8:1 / / rw - ext4 /dev/sda rw": "ext4", "1 2 8:1 - fuse.sshfs": "fuse.sshfs", "1 2 8:10 / / rw - ext4 x": "", "8:1 8:1 - ext4": "", "1 - ext4": "",
		"1 2 8:1 / / rw": "", "1 2 8:2 / / rw - tmpfs x\n1 2 8:1 / / rw shared:1 - xfs x\n1 2 8:1 / / rw - nfs x": "xfs",
	} {
		if got := mountedOn(strings.NewReader(table), "8:1"); got != want {
			t.Errorf("%q: %q, want %q", table, got, want)
		}
	}
	if err := refuseNetwork(t.TempDir() + "/not/made/yet"); err != nil && !errors.As(err, new(*NetworkError)) {
		t.Error(err)
	}
	if text := (&NetworkError{"lab", "NFS"}).Error(); !strings.Contains(text, "--lab") {
		t.Error(text)
	}
}
