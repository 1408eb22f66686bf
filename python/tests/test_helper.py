"""The process that measures arrays: killed, interrupted, forked, used from threads, without room for arrays."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import numpy as np

from support import ROOT, FolderTest

import collapse
from collapse import arena, helper
from test_arrays import expected, made, needs_program

BINARY = os.environ.get("COLLAPSE_BINARY")


def process():
    return helper.helper_of(collapse.find_binary())


def ended(pid, seconds=60):
    """Whether a process is gone, or a zombie, within so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with open("/proc/%d/stat" % pid) as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(.02)
    return False


@needs_program
class HelperTest(FolderTest):
    def setUp(self):
        super().setUp()
        collapse.close()
        helper._said.clear()
        self.H, self.y, self.W, self.b = made()
        self.want = expected(self.H, self.y, self.W, self.b)

    def measure(self, **options):
        result = collapse.measure(self.H, self.y, self.W, self.b, null=0, **options)
        for key, value in self.want.items():
            self.assertAlmostEqual(result["measures"][key], value, delta=1e-9, msg=key)

    def test_one_process_answers_all_calls(self):
        self.measure()
        pid = process().pid
        self.measure()
        self.assertEqual(process().pid, pid)
        collapse.close()
        self.assertTrue(ended(pid))
        self.measure()

    @unittest.skipIf(os.name == "nt", "kills by signals")
    def test_killed_between_calls_it_is_started_again_and_that_is_said_once(self):
        self.measure()
        said = []
        for _ in range(2):
            pid = process().pid
            os.kill(pid, signal.SIGKILL)
            self.assertTrue(ended(pid))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.measure()
            said += [str(w.message) for w in caught if "started again" in str(w.message)]
        self.assertEqual(len(said), 1)
        self.assertIn("signal 9", said[0])

    def test_a_program_that_always_ends_is_an_error(self):
        program = self.folder + "-program"
        with open(program, "w") as f:
            f.write("#!/bin/sh\necho no luck >&2; exit 3\n")
        os.chmod(program, 0o755)
        with self.assertRaisesRegex(collapse.MeasureError, r"ended \(exit status 3\) before it answered:\nno luck"):
            collapse.measure(self.H, self.y, binary=program)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_child_of_fork_has_a_helper_of_its_own(self):
        self.measure()
        pid = process().pid
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self.H = self.H + 1  # must not reach the parent's arrays
                result = collapse.measure(self.H, self.y, null=0)
                good = abs(result.nc1_pinv - self.want["nc1_pinv"]) < 1e-6 and process().pid not in (None, pid)
                collapse.close()
                os.write(write, b"good" if good else b"bad")
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as f:
            self.assertEqual(f.read(), b"good")
        os.waitpid(child, 0)
        self.assertEqual(process().pid, pid)
        self.measure()

    def test_threads_take_turns(self):
        wrong = []

        def work(seed):
            H, y, W, b = made(60 + 30 * seed, seed=seed)
            for _ in range(5):
                got = collapse.measure(H, y, W, b, null=0)
                if abs(got.nc1_pinv - expected(H, y)["nc1_pinv"]) > 1e-9:
                    wrong.append((seed, got.nc1_pinv))
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    @unittest.skipIf(os.name == "nt", "interrupts by signals")
    def test_after_an_interrupt_the_next_call_gets_its_own_answer(self):
        self.measure()
        pid = process().pid
        exchange = helper.Helper._exchange

        def interrupted(self, line):  # the request is sent, and Ctrl-C comes while the answer is awaited
            self._process.stdin.write(line)
            raise KeyboardInterrupt
        with mock.patch.object(helper.Helper, "_exchange", interrupted), self.assertRaises(KeyboardInterrupt):
            collapse.measure(self.H * 2 + 1, self.y, measures=["trace_within"])
        self.assertTrue(ended(pid))
        self.assertIs(helper.Helper._exchange, exchange)
        self.measure()

    @unittest.skipUnless(sys.platform == "linux", "looks processes up in /proc")
    def test_it_ends_with_its_parent_however_that_dies(self):
        code = ("import sys, os, numpy as np; sys.path.insert(0, %r); import collapse; from collapse import helper\n"
                "collapse.measure(np.eye(4)[[0, 1, 0, 1]] + np.eye(4), [0, 1, 0, 1], null=0)\n"
                "print(helper.helper_of(collapse.find_binary()).pid, flush=True); sys.stdin.read()" % ROOT)
        for kill in (False, True):
            parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            pid = int(parent.stdout.readline())
            parent.kill() if kill else parent.stdin.close()
            parent.wait()
            parent.stdout.close()
            if kill:
                parent.stdin.close()
            self.assertTrue(ended(pid), "killed" if kill else "ended")

    def test_without_a_memory_file_arrays_go_to_the_temporary_folder(self):
        folder = self.folder + " with spaces"
        os.mkdir(folder)
        with mock.patch.object(tempfile, "tempdir", folder), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with mock.patch.object(arena, "available_memory", lambda: 100):
                self.measure()
                self.assertEqual(len(os.listdir(folder)), 1)
                self.measure()
                collapse.close()
        self.assertEqual(os.listdir(folder), [])
        self.assertEqual(len([w for w in caught if "handed over in the temporary folder" in str(w.message)]), 1)

    def test_a_temporary_folder_without_room_or_permission(self):
        with mock.patch.object(arena, "available_memory", lambda: 100), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with mock.patch.object(tempfile, "tempdir", self.folder + "/nowhere"):
                with self.assertRaisesRegex(OSError, "no temporary folder takes a file.*set TMPDIR"):
                    self.measure()
            with mock.patch.object(arena, "_allocate", mock.Mock(side_effect=OSError(28, "No space left on device"))):
                with self.assertRaisesRegex(OSError, "has no room for .* of arrays .No space left on device.; set TMPDIR"):
                    self.measure()
            self.measure()
        self.measure()

    def test_it_starts_where_no_temporary_folder_takes_a_file(self):
        with mock.patch.object(tempfile, "tempdir", self.folder + "/nowhere"):
            self.measure()

    @unittest.skipUnless(sys.platform == "linux", "lists open files")
    def test_no_file_is_left_open_call_by_call(self):
        self.measure()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            self.measure()
            collapse.measure(np.tile(self.H, (50, 1)), np.tile(self.y, 50), null=0)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_outputs_never_mix_with_answers(self):
        with self.assertRaisesRegex(collapse.MeasureError, "standard output"):
            collapse.measure(self.H, self.y, arguments=["--html", "/dev/stdout"])
        self.measure()


@unittest.skipIf(os.name == "nt", "programs are scripts")
class ProgramTest(FolderTest):
    """Programs that answer otherwise than they should."""

    def helper(self, script):
        program = self.folder + "-program"
        with open(program, "w") as f:
            f.write("#!/bin/sh\n" + script)
        os.chmod(program, 0o755)
        made = helper.Helper(program)
        self.addCleanup(made.end)
        return made

    def test_questions_and_answers(self):
        made = self.helper('echo "$@" >&2; while read line; do echo "{\\"asked\\": $line}"; done')
        self.assertIsNone(made.pid)
        for arguments in (["a b", "c"], ["d" * 70000], []):
            self.assertEqual(made.ask(arguments), {"asked": {"arguments": arguments}})
        pid = made.pid
        self.assertFalse(ended(pid, 0.01))
        made._errors.seek(0)
        self.assertEqual(made._errors.read(), b"measure --requests\n")
        self.assertEqual(os.getpgid(pid) == os.getpgid(0), False)  # Ctrl-C at the terminal is not for it
        made.end()
        self.assertTrue(ended(pid))
        self.assertIsNone(made.pid)

    def test_an_answer_that_is_none(self):
        made = self.helper("read line; echo nonsense" + 90 * "x" + "; read line")
        with self.assertRaisesRegex(collapse.MeasureError, r"did not answer with a line of JSON; it began with b'nonsensex{72}'$") as caught:
            made.ask([])
        self.assertIsNone(caught.exception.exit_code)
        self.assertIsNone(made.pid)  # the next answer would be that of this question

    def test_half_an_answer_and_its_last_words(self):
        made = self.helper("read line; printf '{'; for i in 1 2 3 4 5 6 7 8 9 10; do printf '%01000d' $i >&2; done; exit 7")
        words = r"`.*-program measure --requests` ended \(exit status 7\) before it answered:\n0{999}7"
        with warnings.catch_warnings(record=True) as caught, self.assertRaisesRegex(collapse.MeasureError, words) as raised:
            warnings.simplefilter("always")
            made.ask([])
        self.assertEqual((raised.exception.exit_code, len(raised.exception.stderr), raised.exception.stderr[-2:], caught), (7, 4000, "10", []))  # a new one is not tried twice
        made = self.helper("exit 3")
        with self.assertRaisesRegex(collapse.MeasureError, r"\(exit status 3\) before it answered; it said nothing$") as raised:
            made.ask([])
        self.assertEqual(raised.exception.stderr, "")

    def test_one_that_ends_after_each_answer_is_started_for_each(self):
        made = self.helper("read line; echo '{}'")
        helper._said.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual([made.ask([]) for _ in range(4)], [{}] * 4)
        self.assertEqual([(str(w.message), w.category) for w in caught], [("collapse: the helper process had ended (exit status 0) and was started again", RuntimeWarning)])

    def test_where_no_temporary_folder_takes_a_file_words_are_lost(self):
        with mock.patch.object(tempfile, "TemporaryFile", side_effect=OSError("read only")):
            with self.assertRaisesRegex(collapse.MeasureError, "exit status 3. before it answered; it said nothing"):
                self.helper("echo words >&2; exit 3").ask([])

    def test_endings(self):
        for status, words in ((0, "exit status 0"), (3, "exit status 3"), (None, "exit status None"), (-15, "signal 15"), (-9, "signal 9, as when memory runs out")):
            self.assertEqual(helper._ending(status), words)


if __name__ == "__main__":
    unittest.main()
