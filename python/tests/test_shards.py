"""The files: numpy reads what ShardWriter wrote, at every cut, and after failures."""

import io
import os
import unittest

import numpy as np

from support import FolderTest

from collapse.shards import HEADER_BYTES, ShardWriter, npy_header


class HeaderTest(unittest.TestCase):
    def test_bytes_are_those_of_numpy_save(self):
        for array in (np.zeros((3, 5), np.float32), np.zeros(7, np.int64), np.zeros((2, 2048)), np.zeros(4, bool)):
            file = io.BytesIO()
            np.save(file, array)
            self.assertEqual(npy_header(array.dtype, array.shape) + array.tobytes(), file.getvalue())

    def test_length_does_not_depend_on_rows(self):
        self.assertEqual({len(npy_header("<f4", (rows, 2 ** 31))) for rows in (0, 9, 10 ** 18)}, {HEADER_BYTES})


class ShardWriterTest(FolderTest):
    def write(self, sizes, shard_bytes, width=4):
        rng = np.random.default_rng(1)
        writer = ShardWriter(self.folder, shard_bytes)
        batches = [{"features": rng.normal(size=(n, width)).astype(np.float32), "labels": rng.integers(0, 9, n)} for n in sizes]
        for batch in batches:
            writer.append(batch)
        writer.close()
        return writer, {name: np.concatenate([b[name] for b in batches]) for name in batches[0]}

    def test_round_trip_and_cuts(self):
        # 16 bytes a row: a shard ends with the batch that reaches 80 bytes, that is 5 rows.
        writer, want = self.write([3, 3, 2, 9, 1, 0], shard_bytes=80)
        self.assertEqual((writer.samples, writer.shards), (18, 3))
        for name in want:
            np.testing.assert_array_equal(self.stream(name), want[name])
            self.assertEqual([len(np.load(f)) for f in self.files(name)], [6, 11, 1])
            self.assertEqual([os.path.basename(f) for f in self.files(name)], ["00000.npy", "00001.npy", "00002.npy"])
        self.assertEqual(self.stream("features").dtype, np.float32)
        self.assertEqual(self.stream("labels").dtype, np.int64)

    def test_empty_batches_leave_no_file(self):
        writer, _ = self.write([0, 0], shard_bytes=80)
        self.assertEqual((writer.samples, writer.shards, self.files("features"), self.files("labels")), (0, 0, [], []))
        self.assertEqual(os.listdir(os.path.join(self.folder, "features")), [])

    def test_an_unfinished_shard_has_no_npy_name(self):
        writer = ShardWriter(self.folder)
        writer.append({"features": np.ones((2, 3), np.float32)})
        self.assertEqual(os.listdir(os.path.join(self.folder, "features")), ["00000.npy.part"])
        writer.close()
        writer.close()
        self.assertEqual(os.listdir(os.path.join(self.folder, "features")), ["00000.npy"])

    def test_a_batch_that_fails_half_way_does_not_count(self):
        writer = ShardWriter(self.folder)
        good = {"features": np.arange(6, dtype=np.float32).reshape(3, 2), "labels": np.arange(3)}
        writer.append(good)
        labels = writer._open["labels"]
        write = labels.append

        def append_fails():
            labels.append = lambda rows: (_ for _ in ()).throw(OSError("no space left"))
            with self.assertRaises(OSError):
                writer.append({"features": np.full((50, 2), 9, np.float32), "labels": np.arange(50)})
            labels.append = write

        append_fails()
        writer.append(good)
        append_fails()
        writer.close()
        self.assertEqual(os.path.getsize(self.files("features")[0]), HEADER_BYTES + 6 * 2 * 4)
        np.testing.assert_array_equal(self.stream("features"), np.concatenate([good["features"]] * 2))
        np.testing.assert_array_equal(self.stream("labels"), np.concatenate([good["labels"]] * 2))

    def test_refusals_say_what_was_found(self):
        writer = ShardWriter(self.folder)
        with self.assertRaisesRegex(ValueError, "different numbers of samples.*3.*2"):
            writer.append({"features": np.ones((3, 2), np.float32), "labels": np.arange(2)})
        writer.append({"features": np.ones((3, 2), np.float32)})
        for other in (np.ones((3, 5), np.float32), np.ones((3, 2)), np.ones(3, np.float32)):
            with self.assertRaisesRegex(ValueError, "differs from the first one"):
                writer.append({"features": other})
        with self.assertRaisesRegex(ValueError, "differs from the first one"):
            writer.append({"features": np.ones((3, 2), np.float32), "labels": np.arange(3)})
        writer.close()
        self.assertEqual(self.stream("features").shape, (3, 2))
        with self.assertRaisesRegex(FileExistsError, "folder of its own"):
            ShardWriter(self.folder)
        with self.assertRaisesRegex(ValueError, "shard_bytes is 0"):
            ShardWriter(self.folder, 0)


if __name__ == "__main__":
    unittest.main()
