"""keep="states": the files, against sums written out in float64, and what the program says of them, against whole features."""

import hashlib
import json
import os
import struct
import subprocess
import unittest
from unittest import mock

import numpy as np

from kinds import D, K, N, T, build, inputs
from support import CaptureTest, needs_torch, torch
from test_measure_resnet18 import program_or_skip

import collapse

if torch:
    from collapse import states
    import vocabulary


def read_state(path):
    """The fields of a first pass, as docs/internal/ncs.md lays them out."""
    with open(path, "rb") as f:
        data = f.read()
    magic, kind, flags, k, d, dropped = struct.unpack("<4s4IQ", data[:28])
    assert (magic, kind) == (b"NCS2", 1) and hashlib.sha256(data[:-32]).digest() == data[-32:]
    numbers, at, out = data[28:-32], 0, {"float32": bool(flags & 2), "dropped": dropped}
    for name, kind, count in (("values", "<i8", k), ("count", "<i8", k), ("scatter", "<f8", k), ("mean", "<f8", k * d), ("spread", "<f8", d),
                              ("pooled", "<f8", d * (d + 1) // 2 if flags & 1 else 0)):
        out[name] = np.frombuffer(numbers, kind, count, at)
        at += 8 * count
    far = np.frombuffer(numbers, "<f8", -1, at).reshape(-1, d)
    assert flags & 4 and bool(flags & 1) == bool(flags & 16) and len(far) == (min(64, out["count"].sum()) if flags & 16 else 0)
    return dict(out, mean=out["mean"].reshape(k, d), far=np.sort((far ** 2).sum(1)))


def sums(h, y):
    """The same from rows h (n, d) and labels y (n), straight from the definitions."""
    h = h.astype(np.float64)
    values = np.unique(y)
    mean = np.stack([h[y == v].mean(0) for v in values])
    r = h - mean[np.searchsorted(values, y)]
    return {"values": values, "count": np.array([(y == v).sum() for v in values]), "mean": mean, "far": np.sort((h ** 2).sum(1))[-64:],
            "scatter": np.array([(r[y == v] ** 2).sum() for v in values]), "spread": (r ** 2).sum(0), "pooled": (r.T @ r)[np.tril_indices(h.shape[1])]}


@needs_torch
class StatesTest(CaptureTest):
    def same(self, state, want):
        for name, value in want.items():
            self.assertEqual(state[name].shape, value.shape, name)
            scale = np.abs(value).max()
            np.testing.assert_allclose(state[name], value, rtol=1e-12, atol=1e-13 * scale, err_msg=name)


class StateFilesTest(StatesTest):
    def both(self, kind="Net", batches=6, **options):
        """Captures batches of a model as features and as states. Returns the features' (h, y), and both folders' names."""
        model, whole = build(kind), self.folder + "-features"
        generator = np.random.default_rng(2)
        xs = [inputs(kind, seed) for seed in range(batches)]
        ys = [generator.choice([0, 2, 3, 70000, 1 << 40], len(model(x).reshape(-1, K))) for x in xs]
        for folder, keep in ((whole, "features"), (self.folder, "states")):
            with torch.no_grad(), collapse.Tap(model, folder, keep=keep, **options) as tap:
                for x, y in zip(xs, ys):
                    model(x)
                    tap.labels(y)
        stream = lambda name: np.concatenate([np.load(os.path.join(whole, name, f)) for f in sorted(os.listdir(os.path.join(whole, name)))])
        return stream, np.concatenate(ys)

    def test_sums_are_those_of_the_features(self):
        for chunk in (1 << 22, 1, 40):
            with self.subTest(chunk=chunk), mock.patch.object(states, "CHUNK", chunk):
                self.setUp()
                stream, y = self.both(layers=["body.one"])
                self.same(read_state(self.folder + "/features.ncs"), sums(stream("features"), y))
                self.same(read_state(self.folder + "/layers/body.one.ncs"), sums(stream("layers/body.one"), y))

    def test_where_there_is_no_float64_sums_are_on_the_cpu(self):
        cpu, other = torch.device("cpu"), torch.device("meta")
        self.assertEqual((states.device_of_sums(cpu), states.device_of_sums(other)), (cpu, other))
        for error in (TypeError, RuntimeError):
            with mock.patch.object(torch, "zeros", side_effect=error("MPS has no float64")):
                self.assertEqual(states.device_of_sums(other), cpu)

    def test_whether_float32_holds_every_number(self):
        """It says how exact the given numbers are."""
        exact, third = torch.ones(2, 2).double(), torch.tensor([[1, 1 / 3], [2, 3]], dtype=torch.float64)
        for batches, want in (([exact], True), ([exact.float() / 3], True), ([third], False), ([third[:, 1:]], False), ([third, exact], False), ([exact, third], False)):
            self.setUp()
            writer = states.StateWriter(self.folder)
            for rows in batches:
                writer.append({"features": rows, "labels": np.array([0, 1])})
            writer.close()
            self.assertIs(read_state(self.folder + "/features.ncs")["float32"], want)

    def test_the_farthest_rows(self):
        rows = torch.arange(140.0).reshape(70, 2) * (-1) ** torch.arange(70)[:, None]
        self.assertEqual(sorted(states.farthest(rows).abs()[:, 0].tolist()), rows.abs()[6:, 0].tolist())
        self.assertEqual(len(states.farthest(rows[:5])), 5)

    def test_tokens_are_rows(self):
        stream, y = self.both("Tied")
        self.same(read_state(self.folder + "/features.ncs"), sums(stream("features"), y))

    def test_a_tiny_spread_around_a_large_mean_keeps_its_digits(self):
        h = 1e6 + 1e-3 * np.random.default_rng(3).standard_normal((4000, 3))
        y = np.arange(4000) % 7
        writer = states.StateWriter(self.folder)
        for part in np.array_split(np.arange(4000), 37):
            writer.append({"features": torch.from_numpy(h[part]), "labels": y[part]})
        writer.close()
        state, want = read_state(self.folder + "/features.ncs"), sums(h, y)
        # 1e6 is known to 1e-10, which is 1e-7 of the spread; E[x²] − E[x]² would lose all of it.
        np.testing.assert_allclose(state["scatter"], want["scatter"], rtol=1e-8)
        self.assertFalse(state["float32"])

    def test_what_tap_json_says(self):
        self.both(layers=["body.one"])
        info = self.info()
        self.assertEqual((info["format"], info["keep"], info["complete"], info["classifier"]), ("collapse_tap 2", "states", True, "fc"))
        self.assertEqual({k: info["streams"]["features"][k] for k in ("state", "classes", "dropped", "pooled", "module", "width", "dtype")},
                         {"state": "features.ncs", "classes": 5, "dropped": 0, "pooled": True, "module": "fc", "width": D, "dtype": "<f4"})
        self.assertEqual(sorted(os.listdir(self.folder)), ["bias.npy", "features.ncs", "layers", "tap.json", "weight.npy"])

    def test_precision_is_that_of_the_values(self):
        for dtype, values, float32 in ((torch.float32, 0.1, True), (torch.float64, 0.5, True), (torch.float64, 0.1, False)):
            self.setUp()
            writer = states.StateWriter(self.folder)
            writer.append({"features": torch.full((4, 2), values, dtype=dtype), "labels": np.arange(4)})
            writer.close()
            self.assertEqual(read_state(self.folder + "/features.ncs")["float32"], float32)

    def test_wide_rows_have_no_pooled_scatter(self):
        writer = states.StateWriter(self.folder)
        writer.append({"features": torch.ones(3, states.POOLED_WIDTH + 1), "labels": np.arange(3)})
        writer.close()
        self.assertEqual(len(read_state(self.folder + "/features.ncs")["pooled"]), 0)

    def test_modes_of_torch_do_not_reach_the_sums(self):
        model, x, y = build("Net"), inputs("Net"), np.arange(N) % K
        with torch.no_grad():
            want = sums(model.features(x).numpy(), y)
        for name, mode in (("inference", torch.inference_mode()), ("autocast", torch.autocast("cpu", dtype=torch.bfloat16)), ("gradients", torch.enable_grad())):
            self.setUp()
            with self.subTest(name), collapse.Tap(model, self.folder, keep="states") as tap:
                with mode:
                    model(x)
                    tap.labels(y)
                with torch.no_grad():
                    model(x)
                    tap.labels(y + K)
            state = read_state(self.folder + "/features.ncs")
            if name == "autocast":  # the model's own numbers are of bfloat16; the second batch is not
                np.testing.assert_allclose(state["mean"][:K], want["mean"], atol=0.02)
            else:
                np.testing.assert_allclose(state["mean"][:K], want["mean"], rtol=1e-12)
                np.testing.assert_allclose(state["scatter"][:K], want["scatter"], rtol=1e-12)
            np.testing.assert_allclose(state["scatter"][K:], want["scatter"], rtol=1e-12)

    def test_in_place_layers_do_not_reach_what_was_taken(self):
        nn = torch.nn
        model = nn.Sequential(nn.Linear(8, D), nn.ReLU(inplace=True), nn.Linear(D, K)).eval()
        x = torch.randn(20, 8)
        with torch.no_grad():
            before = model[0](x).numpy()
            with collapse.Tap(model, self.folder, keep="states", layers=["0"]) as tap:
                model(x)
                tap.labels(np.zeros(20, int))
        np.testing.assert_allclose(read_state(self.folder + "/layers/0.ncs")["mean"][0], before.astype(np.float64).mean(0), rtol=1e-12)

    def test_a_device_without_float64_hands_its_rows_to_the_processor(self):
        device = torch.device("cpu", 0)
        self.assertIs(states.device_of_sums(device), device)
        with mock.patch.object(torch, "zeros", side_effect=TypeError("Cannot convert a MPS Tensor to float64")):
            self.assertEqual(states.device_of_sums(torch.device("mps")), torch.device("cpu"))

    def test_rows_that_are_not_finite(self):
        h, y = torch.ones(6, 2), np.array([0, 0, 1, 1, 2, 2])
        h[1, 0], h[4, 1], h[5, 0] = float("nan"), float("inf"), float("-inf")
        writer = states.StateWriter(self.folder)
        writer.append({"features": torch.ones(6, 2), "labels": y})
        with self.assertRaisesRegex(ValueError, r"row 1 of 'features' in this batch \(sample 7\) holds NaN.*drop_nonfinite=True"):
            writer.append({"features": h, "labels": y})
        self.assertEqual(writer.samples, 6)
        self.setUp()
        writer = states.StateWriter(self.folder, drop_nonfinite=True)
        writer.append({"features": h, "layers/a": torch.ones(6, 3), "labels": y})
        writer.close()
        state = read_state(self.folder + "/features.ncs")
        self.assertEqual((state["dropped"], state["values"].tolist(), state["count"].tolist()), (3, [0, 1, 2], [1, 2, 0]))
        self.assertEqual(read_state(self.folder + "/layers/a.ncs")["count"].tolist(), [2, 2, 2])

    def test_sums_beyond_float64_are_refused(self):
        with self.assertRaisesRegex(ValueError, "'features' leave the range of float64"):
            with torch.no_grad(), collapse.Tap(build("Net").double(), self.folder, keep="states") as tap:
                tap._model(inputs("Net").double())
                tap._pending["features"] *= 1e200
                tap.labels(np.zeros(N, int))
        self.assertFalse(self.info()["complete"])

    def test_a_batch_that_reaches_some_streams_only_ends_the_states(self):
        batch = {"features": torch.ones(3, 2), "layers/a": torch.ones(3, 2), "labels": np.arange(3)}
        writer = states.StateWriter(self.folder)
        writer.append(batch)
        add = states.Moments.add
        with mock.patch.object(states.Moments, "add", lambda m, rows, *rest: add(m, rows, *rest) if m is writer._moments["features"] else 1 / 0):
            with self.assertRaises(ZeroDivisionError):
                writer.append(batch)
        with self.assertRaisesRegex(RuntimeError, "some of the states only"):
            writer.append(batch)
        self.assertIn("some of the states only", writer.complaint())

    def test_calls_that_cannot_work(self):
        model = build("Net")
        for options, words in (({"keep": "moments"}, "keep is 'moments'"), ({"keep": "states", "labelled": False}, "labelled=False"),
                               ({"drop_nonfinite": True}, "goes with keep='states'")):
            with self.assertRaisesRegex(ValueError, words):
                collapse.Tap(model, self.folder, **options)
        with torch.no_grad(), collapse.Tap(model, self.folder, keep="states") as tap:
            model(inputs("Net"))
            for extra in ({"true": np.zeros(N, int)}, {"corrupted": np.zeros(N, bool)}):
                with self.assertRaisesRegex(ValueError, "memorization measures, which need the features"):
                    tap.labels(np.zeros(N, int), **extra)
            tap.labels(np.zeros(N, int))
        for other in ("test", "ood"):
            with self.assertRaisesRegex(ValueError, "need the features of the train samples"):
                collapse.measure(self.folder, binary="/bin/true", **{other: self.folder})
        whole = self.folder + "-features"
        with torch.no_grad(), collapse.Tap(model, whole) as tap:
            model(inputs("Net"))
            tap.labels(np.zeros(N, int))
        with self.assertRaisesRegex(ValueError, "holds states, which keep no samples"):
            collapse.measure(whole, binary="/bin/true", test=self.folder)
        with self.assertRaisesRegex(ValueError, "has no 'layers/fc'; it has"):
            collapse.measure(self.folder, binary="/bin/true", layer="fc")

    def test_states_and_features_replace_each_other(self):
        for keep in ("states", "features", "states"):
            with torch.no_grad(), collapse.Tap(build("Net"), self.folder, keep=keep, layers=["body.one"], overwrite=True) as tap:
                tap._model(inputs("Net"))
                tap.labels(np.arange(N) % K)
            self.assertEqual(os.path.exists(self.folder + "/layers/body.one.ncs"), keep == "states")
        with open(self.folder + "/layers/mine.txt", "w"):
            pass
        with self.assertRaisesRegex(FileExistsError, "mine.txt"), collapse.Tap(build("Net"), self.folder, keep="states", overwrite=True):
            pass

    def test_labels_that_are_left_out(self):
        model, x = build("Tied"), inputs("Tied")
        y = np.arange(N * T).reshape(N, T) % K
        mask = np.arange(N * T).reshape(N, T) % 5 > 0
        with torch.no_grad(), collapse.Tap(model, self.folder, keep="states") as tap:
            model(x)
            tap.labels(y, ignore_index=2, mask=mask)
            h = model.features(x).reshape(-1, D).numpy()
        kept = (mask & (y != 2)).reshape(-1)
        self.same(read_state(self.folder + "/features.ncs"), sums(h[kept], y.reshape(-1)[kept]))


class MeasuredStatesTest(StatesTest):
    """What the program says: of states as of whole features."""
    SIZE = (700, 24, 8000)

    def setUp(self):
        super().setUp()
        self.program = program_or_skip()

    def agree(self, got, want, least, tolerance=1e-12):
        """Every measure and class vector that states give is that of the features."""
        for key in ("n", "d", "k", "class_counts", "left_out", "dropped"):
            self.assertEqual(got.get(key), want.get(key), key)
        self.assertGreaterEqual(len(got["measures"]), least)
        for key, value in got["measures"].items():
            self.assertLessEqual(abs(value - want["measures"][key]), tolerance * abs(value), key)
        for key, missing in got["missing"].items():
            self.assertTrue(key in want["missing"] or "one pass cannot give it" in missing, (key, missing))

    def command(self, *arguments):
        done = subprocess.run([self.program, "measure", "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_vocabulary_with_absent_and_single_tokens(self):
        whole = self.folder + "-features"
        for folder, keep in ((self.folder, "states"), (whole, "features")):
            vocabulary.capture(folder, keep, *self.SIZE, layers=[vocabulary.LAYER])
        want = collapse.measure(whole, binary=self.program)
        self.assertLess(want["k"], self.SIZE[0])
        self.assertIn(1, want["class_counts"])
        for got in (collapse.measure(self.folder, binary=self.program), self.command(self.folder)):
            self.agree(got, want, 35)
        self.agree(collapse.measure(self.folder, layer=vocabulary.LAYER, binary=self.program), collapse.measure(whole, layer=vocabulary.LAYER, binary=self.program), 20)
        layers, wanted = self.command(self.folder, "--layers", "*"), self.command(whole, "--layers", "*")
        self.assertEqual([x["layer"] for x in layers["layers"]], [x["layer"] for x in wanted["layers"]])
        for one, other in zip(layers["layers"], wanted["layers"]):
            if one["layer"] == vocabulary.LAYER:  # of which a state does not know how many tokens there might be
                other.pop("left_out")
            self.agree(one, other, 20)

    def test_the_program_s_own_state_of_the_features(self):
        vocabulary.capture(self.folder, "states", *self.SIZE)
        vocabulary.capture(self.folder + "-features", "features", *self.SIZE)
        state = self.folder + ".ncs"
        features = self.folder + "-features"
        self.command("--features", features + "/features/*.npy", "--labels", features + "/labels/*.npy", "--state-out", state)
        ours, theirs = read_state(self.folder + "/features.ncs"), read_state(state)
        self.assertEqual([ours.pop(k) for k in ("float32", "dropped")], [theirs.pop(k) for k in ("float32", "dropped")])
        self.same(ours, theirs)
        weights = ["--weights", self.folder + "/weight.npy", "--bias", self.folder + "/bias.npy"]
        self.agree(self.command(self.folder), self.command("--merge", state, *weights), 35)
        # What the program wrote of half the vocabulary merges with what torch wrote of the other, also where the program knew the classifier.
        self.command(features, "--state-out", state)
        doubled = self.command("--merge", state, self.folder + "/features.ncs", *weights)
        self.assertEqual(doubled["n"], 2 * self.SIZE[2])
        self.assertAlmostEqual(doubled["measures"]["cdnv"], self.command(self.folder)["measures"]["cdnv"], places=12)

    def test_processes_with_a_folder_each(self):
        vocabulary.capture(self.folder + "-features", "features", *self.SIZE)
        want = collapse.measure(self.folder + "-features", binary=self.program)
        for part in range(3):
            vocabulary.capture(self.folder + "/rank-%d" % part, "states", *self.SIZE, part=part, parts=3)
        seen = [set(read_state(self.folder + "/rank-%d/features.ncs" % part)["values"].tolist()) for part in range(3)]
        self.assertFalse(seen[0] == seen[1] or seen[1] == seen[2])
        self.agree(self.command(self.folder + "/rank-*"), want, 35)

    def test_rows_that_are_not_finite(self):
        y, h = np.arange(60) % 4, np.random.default_rng(4).standard_normal((60, 5)).astype(np.float32)
        h[[3, 17], 2] = np.nan, np.inf
        writer = states.StateWriter(self.folder, drop_nonfinite=True)
        writer.append({"features": torch.from_numpy(h), "labels": y})
        writer.close()
        np.savez(self.folder + ".npz", features=h, labels=y)
        got, want = self.command("--merge", self.folder + "/features.ncs"), self.command("--drop-nonfinite", self.folder + ".npz")
        self.agree(got, want, 15)
        self.assertEqual((got["dropped"], got["n"]), (2, 58))

    def test_a_capture_that_an_exception_ended(self):
        model = build("Net")
        with self.assertRaises(KeyboardInterrupt), torch.no_grad(), collapse.Tap(model, self.folder, keep="states") as tap:
            model(inputs("Net"))
            tap.labels(np.arange(N) % K)
            raise KeyboardInterrupt
        with self.assertRaisesRegex(ValueError, "ended early after %d samples" % N):
            collapse.measure(self.folder, binary=self.program)
        self.assertEqual(collapse.measure(self.folder, binary=self.program, partial=True)["n"], N)


if __name__ == "__main__":
    unittest.main()
