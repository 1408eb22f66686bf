"""The memory that arrays are handed over in: its layout read back from the file, where it lies, how large it is, and what happens without room."""

import errno
import io
import json
import os
import tempfile
import unittest
from unittest import mock

import numpy as np

from support import FolderTest

from collapse import arena
from collapse.arrays import block

MEMORY = unittest.skipUnless(hasattr(os, "memfd_create"), "this system has no memory files")


def read(path):
    """(arrays by name, places by name) of a file in safetensors layout, which must leave no byte to nobody, as its specification says."""
    with open(path, "rb") as f:
        data = f.read()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    at, arrays, places = 0, {}, {}
    for name, entry in sorted(header.items(), key=lambda pair: pair[1]["data_offsets"]):
        start, end = entry["data_offsets"]
        kind = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1", "BOOL": "?"}[entry["dtype"]]
        assert start == at and end - start == np.dtype(kind).itemsize * int(np.prod(entry["shape"])), (name, entry)
        arrays[name] = np.frombuffer(body[start:end], kind).reshape(entry["shape"])
        places[name], at = 8 + size + start, end
    assert at == len(body), "bytes after the last array"
    return arrays, places


def blocks(**values):
    return [block(name, value, name) for name, value in values.items()]


class ArenaTest(FolderTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.folder)
        self.enterContext(mock.patch.object(tempfile, "tempdir", self.folder))
        self.arena = arena.Arena()
        self.addCleanup(lambda: self.arena and self.arena.close())
        self.some = {"features": np.arange(35, dtype=np.float32).reshape(7, 5), "labels": np.arange(7) - 3, "corrupted": np.arange(7) > 3}

    def stored(self, values):
        """Stores arrays, and compares what the file holds. Returns why they lie on disk."""
        why = self.arena.store(blocks(**values))
        arrays, places = read(self.arena.path)
        for name, value in values.items():
            np.testing.assert_array_equal(arrays[name], value)
            self.assertEqual((arrays[name].dtype, places[name] % 64), (value.dtype, 0), name)  # as fast as memory can be read
        self.assertEqual([name for name in arrays if name not in values and not name.startswith("pad") and name != "rest"], [])
        return why

    @MEMORY
    def test_arrays_of_any_size_come_back(self):
        for n in (1, 8, 15, 16, 17, 64, 1000, 1025, 3):
            self.assertEqual(self.stored({"features": np.full((n, 3), n / 7), "labels": np.arange(n), "ood": np.ones((n, 1), np.float32)}), "")
        self.assertEqual(self.stored(self.some), "")
        self.assertEqual(os.listdir(self.folder), [])

    @MEMORY
    def test_the_program_inherits_the_memory_alone(self):
        (fd,) = self.arena.inherited()
        self.arena.store(blocks(**self.some))
        self.assertEqual(self.arena.path, "/proc/self/fd/%d" % fd)
        with mock.patch.object(arena, "available_memory", lambda: 0):
            fresh = arena.Arena()
            fresh.store(blocks(**self.some))
            self.assertEqual(len(fresh.inherited()), 1)  # a file on disk is opened by its name
            self.assertTrue(fresh.path.startswith(self.folder + "/collapse-") and fresh.path.endswith(".safetensors"), fresh.path)
            fresh.close()
        self.assertEqual(os.listdir(self.folder), [])

    @MEMORY
    def test_it_grows_and_shrinks_only_when_much_too_large(self):
        size = lambda: os.stat(self.arena.path).st_size
        sizes = []
        for megabytes in (1, 12, 1, 20, 6, 4, 1, 80, 21, 19):  # a file four times too large is cut, if it is larger than 16 MiB
            self.stored({"features": np.full((megabytes << 17, 1), megabytes / 3)})
            sizes.append(size() >> 20)
        self.assertEqual(sizes, [1, 12, 12, 20, 20, 4, 4, 80, 80, 19])
        self.assertEqual(size() % os.sysconf("SC_PAGESIZE"), 0)
        # Room is reserved: a write to a hole could kill the process.
        self.assertGreaterEqual(os.stat(self.arena.path).st_blocks * 512, size())

    @MEMORY
    def test_more_than_half_of_the_free_memory_lies_on_disk(self):
        values = {"features": np.zeros((1 << 17, 2))}  # 2 MiB
        need = (2 << 20) + 64 + 4096 + 200
        with mock.patch.object(arena, "available_memory", lambda: 2 * need):
            self.assertEqual(self.stored(values), "")
        with mock.patch.object(arena, "available_memory", lambda: 2 * (need - 1)):
            self.assertEqual(self.stored({"features": np.zeros((1 << 17, 2))}), "")  # what it holds already is its own
            self.arena.close()
            self.arena = arena.Arena()
            self.assertEqual(self.stored(values), "they take 2 MB, more than half of the free memory (4 MB)")
        with mock.patch.object(arena, "available_memory", lambda: None):  # not known
            self.assertEqual(self.stored(values), "")

    @MEMORY
    def test_without_room_in_memory_it_lies_on_disk(self):
        fill, real = [], arena.Arena._fill

        def failing(file, some, need):
            fill.append(file)
            if file is self.arena._memory:
                raise OSError(code, os.strerror(code))
            real(file, some, need)
        with mock.patch.object(arena.Arena, "_fill", staticmethod(failing)):
            for code in (errno.ENOSPC, errno.ENOMEM, errno.EFBIG):
                self.assertEqual(self.stored(self.some), "memory has no room for them (%s)" % os.strerror(code))
                self.assertEqual(os.listdir(self.folder), [os.path.basename(self.arena.path)])
            code = errno.EIO
            with self.assertRaises(OSError) as caught:
                self.arena.store(blocks(**self.some))
            self.assertEqual(caught.exception.errno, errno.EIO)
        self.assertEqual(self.stored(self.some), "")

    def test_a_system_without_memory_files(self):
        for refusing, why in ((True, "this system gives no memory file"), (False, "")):
            self.arena.close()
            with mock.patch.object(os, "memfd_create", side_effect=OSError(errno.ENOSYS, "no"), create=True):
                if not refusing:
                    del os.memfd_create  # as on macOS and Windows: there is nothing to say about it
                self.arena = arena.Arena()
                self.assertEqual((self.stored(self.some), self.arena.inherited()), (why, ()))
                self.assertEqual(os.listdir(self.folder), [os.path.basename(self.arena.path)])

    def test_no_room_anywhere(self):
        with mock.patch.object(arena, "available_memory", lambda: 0):
            with mock.patch.object(arena, "_allocate", side_effect=OSError(errno.ENOSPC, "full")):
                with self.assertRaisesRegex(OSError, "the temporary folder %r has no room for 0 MB of arrays .full.; set TMPDIR to a folder that has, or pass keep=\"states\"" % self.folder) as caught:
                    self.arena.store(blocks(**self.some))
                self.assertEqual(caught.exception.errno, errno.ENOSPC)
            self.assertEqual(os.listdir(self.folder), [])
            with mock.patch.object(tempfile, "tempdir", self.folder + "/none"), self.assertRaisesRegex(OSError, "no temporary folder takes a file for 0 MB of arrays .No such file") as caught:
                self.arena.store(blocks(**self.some))
            self.assertEqual(caught.exception.errno, errno.ENOENT)
            self.assertIn("more than half", self.stored(self.some))  # and it works once there is room

    @MEMORY
    def test_a_view_of_the_memory_outlives_it(self):
        self.arena.store(blocks(**self.some))
        view = np.frombuffer(self.arena._memory.map, np.uint8)  # as a traceback may hold one
        before = view.tobytes()
        self.assertEqual(self.stored({"features": np.ones((1 << 18, 2))}), "")
        self.assertEqual(len(before), len(view))
        self.arena.forget()  # a child that has no file on disk
        self.assertIsNone(self.arena._memory)
        self.arena = None

    @MEMORY
    def test_what_a_child_forgets_stays_its_parents(self):
        with mock.patch.object(arena, "available_memory", lambda: 0):
            self.arena.store(blocks(**self.some))
        path, files = self.arena.path, len(os.listdir("/proc/self/fd"))
        self.arena.forget()
        arrays, _ = read(path)
        np.testing.assert_array_equal(arrays["features"], self.some["features"])
        self.assertEqual(len(os.listdir("/proc/self/fd")), files - 3)  # that of the memory, that on disk and that of its mapping
        self.arena = None

    def test_space_is_filled_where_it_cannot_be_reserved(self):
        for refused in (errno.EINVAL, errno.EOPNOTSUPP, None):
            with tempfile.TemporaryFile() as f:
                os.pwrite(f.fileno(), b"held", 0)
                with mock.patch.object(os, "posix_fallocate", side_effect=OSError(refused, "no"), create=True) as there:
                    if refused is None:
                        del os.posix_fallocate
                    arena._allocate(f.fileno(), (5 << 20) + 3)
                f.seek(0)
                self.assertEqual(f.read(), b"held".ljust((5 << 20) + 3, b"\0"))
        with tempfile.TemporaryFile() as f, mock.patch.object(os, "posix_fallocate", side_effect=OSError(errno.ENOSPC, "full"), create=True), self.assertRaises(OSError):
            arena._allocate(f.fileno(), 100)

    def test_sizes_as_words(self):
        for n, want in ((0, "0 MB"), (2600000, "3 MB"), (999999999, "1000 MB"), (10**9, "1.0 GB"), (12345678901, "12.3 GB")):
            self.assertEqual(arena._size(n), want)


class FreeMemoryTest(unittest.TestCase):
    def free(self, **files):
        """available_memory() of a system with these files."""
        names = {"/proc/meminfo": "meminfo", "/sys/fs/cgroup/memory.max": "most", "/sys/fs/cgroup/memory.current": "current", "/sys/fs/cgroup/memory.stat": "stat"}

        def opened(path, *args):
            text = files.get(names[path])
            if text is None:
                raise FileNotFoundError(path)
            return io.StringIO(text)
        with mock.patch.object(arena, "open", opened, create=True):
            return arena.available_memory()

    def test_of_a_machine_and_of_a_control_group(self):
        machine = "MemTotal:       900 kB\nMemAvailable:   500 kB\n"
        self.assertEqual(self.free(meminfo=machine), 500 * 1024)
        self.assertIsNone(self.free())
        self.assertIsNone(self.free(meminfo="MemTotal: 900 kB\n"))
        self.assertIsNone(self.free(meminfo="MemAvailable: much\n"))
        # Of what the group holds, the page cache can be dropped, but not what lies in shared memory.
        group = dict(meminfo=machine, current="40000\n", stat="anon 5\nfile 9000\nshmem 2000\n")
        self.assertEqual(self.free(most="50000\n", **group), 50000 - 40000 + 9000 - 2000)
        self.assertEqual(self.free(most="90000000\n", **group), 500 * 1024)
        self.assertEqual(self.free(most="max\n", **group), 500 * 1024)
        self.assertEqual(self.free(most="50000\n", **dict(group, stat="anon 5\n")), 500 * 1024)


if __name__ == "__main__":
    unittest.main()
