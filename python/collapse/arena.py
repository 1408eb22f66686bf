"""Memory that this process fills and the program maps: one file in safetensors layout, reused from call to call.

On Linux it is an anonymous memory file (memfd), which needs no room in /dev/shm. Where that is not available, or if the
arrays would take more than half of the free memory, it is a file in the temporary folder, which is reported once.
"""

import errno
import json
import mmap
import os
import tempfile

import numpy as np

_ALIGN = 64  # bytes: a cache line
_KEEP = 4  # a file larger than this many times the requested size is shrunk


class Arena:
    """store() places arrays; `path` is what the program opens."""

    def __init__(self):
        self._memory, self._disk = _File(), None
        try:
            self._memory.fd = os.memfd_create("collapse-arrays")
        except (AttributeError, OSError):
            self._memory = None
        self.path = None

    def inherited(self):
        """The descriptors that the program inherits."""
        return () if self._memory is None else (self._memory.fd,)

    def store(self, blocks):
        """Copies blocks (arrays.Block) after a header; returns why they were put into a temporary folder, "" if they were not."""
        blocks = sorted(blocks, key=lambda block: -block.nbytes)
        need = sum(block.nbytes + _ALIGN for block in blocks) + 4096 + 200 * len(blocks)
        why = self._why_disk(need)
        if why == "":
            try:
                self._fill(self._memory, blocks, need)
                self.path = "/proc/self/fd/%d" % self._memory.fd
                return ""
            except OSError as e:
                if e.errno not in (errno.ENOSPC, errno.ENOMEM, errno.EFBIG):
                    raise
                why = "memory has no room for them (%s)" % e.strerror
        if self._disk is None:
            self._disk = _temporary(need)
        try:
            self._fill(self._disk, blocks, need)
        except OSError as e:
            self._disk.close()
            self._disk = None
            raise OSError(e.errno, "collapse: the temporary folder %r has no room for %s of arrays (%s); set TMPDIR to a folder that has, or pass "
                          "keep=\"states\"" % (tempfile.gettempdir(), _size(need), e.strerror)) from None
        self.path = self._disk.name
        return "" if why is None else why

    def close(self):
        for file in (self._memory, self._disk):
            if file is not None:
                file.close()
        self._memory = self._disk = None

    def forget(self):
        """In a child of fork(): closes what is open here and removes nothing."""
        if self._disk is not None:
            self._disk.name = None
        self.close()

    def _why_disk(self, need):
        """Why not to use memory: "" if it should be used, None if there is no reason to report."""
        if self._memory is None:
            return None if os.name != "posix" or not hasattr(os, "memfd_create") else "this system gives no memory file"
        free = available_memory()
        if free is not None and need - self._memory.size > free // 2:
            return "they take %s, more than half of the free memory (%s)" % (_size(need), _size(free))
        return ""

    @staticmethod
    def _fill(file, blocks, need):
        file.resize(need)
        offset, entries, places = 0, {}, []
        for i, block in enumerate(blocks):
            places.append(offset)
            entries[block.name] = _entry(block.kind, block.shape, offset, block.nbytes)
            offset += block.nbytes
            pad = -offset % _ALIGN
            if pad:
                entries["pad%d" % i] = _entry("U8", [pad], offset, pad)
                offset += pad
        # The rest of the file is a tensor, too: the layout allows nothing after the last one.
        base = 8 + len(json.dumps(entries)) + 200
        base += -base % _ALIGN
        if base + offset < file.size:
            entries["rest"] = _entry("U8", [file.size - base - offset], offset, file.size - base - offset)
        header = json.dumps(entries).encode().ljust(base - 8)
        file.map[:base] = (base - 8).to_bytes(8, "little") + header
        for block, at in zip(blocks, places):
            block.write(np.frombuffer(file.map, np.uint8, block.nbytes, base + at))


class _File:
    """An open file and its mapping."""

    def __init__(self, fd=None, name=None):
        self.fd, self.name, self.map, self.size = fd, name, None, 0

    def resize(self, need):
        """Makes the file at least this long, with space reserved on disk or in memory: a write to a hole could kill the process."""
        if need <= self.size <= max(_KEEP * need, 1 << 24):
            return
        need += -need % mmap.PAGESIZE
        self._unmap()
        if need < self.size:
            os.ftruncate(self.fd, need)
        _allocate(self.fd, need)
        self.map, self.size = mmap.mmap(self.fd, need), need

    def _unmap(self):
        if self.map is not None:
            try:
                self.map.close()
            except BufferError:  # a view is still alive, in a traceback, and unmaps it when it is freed
                pass
        self.map = None

    def close(self):
        self._unmap()
        os.close(self.fd)
        if self.name is not None:
            try:
                os.remove(self.name)
            except OSError:
                pass


def _allocate(fd, size):
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(fd, 0, size)
            return
        except OSError as e:
            if e.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise
    at, zeros = os.fstat(fd).st_size, bytes(1 << 20)
    os.lseek(fd, at, os.SEEK_SET)
    while at < size:
        at += os.write(fd, zeros[:size - at])


def _temporary(need):
    try:
        fd, name = tempfile.mkstemp(prefix="collapse-", suffix=".safetensors")
    except OSError as e:
        raise OSError(e.errno or errno.EROFS, "collapse: no temporary folder takes a file for %s of arrays (%s); set TMPDIR to one that can be "
                      "written" % (_size(need), e.strerror or e)) from None
    return _File(fd, name)


def _entry(kind, shape, offset, nbytes):
    return {"dtype": kind, "shape": list(shape), "data_offsets": [offset, offset + nbytes]}


def _size(n):
    return "%.1f GB" % (n / 1e9) if n >= 1e9 else "%.0f MB" % (n / 1e6)


def available_memory():
    """Bytes that can be allocated without swapping, within the control group's limit; None if that is not known."""
    try:
        with open("/proc/meminfo") as f:
            fields = dict(line.split(":", 1) for line in f)
        free = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None
    try:
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as current:
            room = int(most.read()) - int(current.read())
        with open("/sys/fs/cgroup/memory.stat") as f:
            held = dict(line.split() for line in f)
        free = min(free, room + int(held["file"]) - int(held["shmem"]))  # the page cache can be dropped, shared memory cannot
    except (OSError, KeyError, ValueError):  # no control group, or "max"
        pass
    return free
