package store

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// refuseNetwork returns an error if dir, or its nearest existing parent, is on a network file system. SQLite's write-ahead log needs
// memory shared between all processes that open the file, and reliable locks: a network file system provides neither, and the file
// gets damaged.
func refuseNetwork(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for {
		var s syscall.Statfs_t
		err := syscall.Statfs(abs, &s)
		if err == nil {
			if name := networkName(int64(s.Type), func() string { return mountType(abs) }); name != "" {
				return &NetworkError{Dir: dir, FileSystem: name}
			}
			return nil
		}
		parent := filepath.Dir(abs)
		if !os.IsNotExist(err) || parent == abs {
			return fmt.Errorf("store: %s: %w", abs, err)
		}
		abs = parent
	}
}

// networkMagic are the numbers by which statfs identifies network file systems (statfs(2), linux/magic.h and the file systems' own
// sources).
var networkMagic = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	0xff534d42:            "CIFS",
	0xfe534d42:            "SMB",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.AFS_FS_MAGIC:     "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
	unix.NCP_SUPER_MAGIC:  "NCP",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	unix.V9FS_MAGIC:       "9P",
	0x0bd00bd0:            "Lustre",
	0x47504653:            "GPFS",
	0x01161970:            "GFS2",
	0x19830326:            "BeeGFS",
	0x20030528:            "OrangeFS",
	0xaad7aaea:            "Panasas",
	0x013111a8:            "IBRIX",
}

// networkFUSE are the kinds of FUSE mount that go over a network; others, such as fuseblk and fuse-overlayfs, are local disks.
var networkFUSE = []string{
	"sshfs", "s3fs", "rclone", "gcsfuse", "goofys", "mount-s3", "glusterfs", "ceph", "ceph-fuse", "curlftpfs",
	"davfs", "davfs2", "smbnetfs", "nfs", "fuse-nfs", "juicefs", "moosefs", "mfs", "lizardfs", "cvmfs2", "blobfuse", "blobfuse2", "hdfs", "fuse_dfs", "orangefs",
}

// networkName returns the name of a network file system, or "" for a local one. mountType is called only for FUSE.
func networkName(magic int64, mountType func() string) string {
	if name := networkMagic[uint32(magic)]; name != "" {
		return name
	}
	if uint32(magic) == unix.FUSE_SUPER_MAGIC {
		if kind := strings.TrimPrefix(mountType(), "fuse."); slices.Contains(networkFUSE, kind) {
			return kind
		}
	}
	return ""
}

// mountType returns the type that the system's mount table gives for the file system of dir, such as "fuse.sshfs"; "" if it has
// none.
func mountType(dir string) string {
	var s unix.Stat_t
	if err := unix.Stat(dir, &s); err != nil {
		return ""
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	return mountedOn(f, fmt.Sprintf("%d:%d", unix.Major(uint64(s.Dev)), unix.Minor(uint64(s.Dev))))
}

// mountedOn searches a mount table for the type of what is mounted on a device.
func mountedOn(table io.Reader, device string) string {
	for lines := bufio.NewScanner(table); lines.Scan(); {
		// id parent major:minor root mount-point options... - type source options (proc(5))
		left, right, ok := strings.Cut(lines.Text(), " - ")
		if fields := strings.Fields(left); ok && len(fields) > 2 && fields[2] == device {
			kind, _, _ := strings.Cut(right, " ")
			return kind
		}
	}
	return ""
}
