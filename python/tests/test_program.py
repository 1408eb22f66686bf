"""The program in a wheel: where it is looked for, and how the console script becomes it. Programs are stand-ins that say what they were given."""

import json
import ntpath
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PYTHON)

from collapse import _program, find_binary  # noqa: E402

SAYS = "import json, sys; print(json.dumps(sys.argv[1:])); sys.exit(7)"
WAITS = "import os, signal, sys\ntry:\n    print(os.getpid(), flush=True); signal.pause()\nexcept KeyboardInterrupt:\n    print('interrupted'); sys.exit(130)"


class Installed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="a folder ")
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(os.path.join(PYTHON, "collapse"), os.path.join(self.folder, "collapse"), ignore=shutil.ignore_patterns("bin", "__pycache__"))
        self.program = os.path.join(self.folder, "collapse", "bin", "collapse")

    def put(self, text, mode=0o755):
        os.makedirs(os.path.dirname(self.program), exist_ok=True)
        with open(self.program, "w") as f:
            f.write("#!%s\n%s\n" % (sys.executable, text))
        os.chmod(self.program, mode)

    def start(self, *arguments, before=""):
        return subprocess.Popen([sys.executable, "-c", before + "from collapse._program import main; main()"] + list(arguments), cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell's background job ignores it

    def call(self, *arguments, before=""):
        process = self.start(*arguments, before=before)
        out, errors = process.communicate(timeout=120)
        return process.returncode, out, errors

    def test_arguments_and_exit_status_pass_through(self):
        self.put(SAYS)
        given = ["measure", "a b.npy", "*.npy", "", "--null=\"x\"", "ü"]
        for before in ("", WINDOWS):
            code, out, errors = self.call(*given, before=before)
            self.assertEqual((code, json.loads(out)), (7, given), errors)
        done = subprocess.run([sys.executable, "-m", "collapse"] + given, cwd=self.folder, stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, json.loads(done.stdout.decode())), (7, given))

    def test_no_library_is_loaded_before_the_program_starts(self):
        self.put("import sys; sys.exit(0)")
        code, _, errors = self.call(before="import sys; sys.modules['numpy'] = None; ")
        self.assertEqual(code, 0, errors)

    def test_ctrl_c_is_the_programs(self):
        self.put(WAITS)
        for before in ("", WINDOWS):
            process = self.start(before=before)
            program = int(process.stdout.readline())
            process.send_signal(signal.SIGINT)
            self.assertEqual(program == process.pid, not before)
            if before:  # a terminal tells both; here each is told
                time.sleep(0.2)
                self.assertIsNone(process.poll(), "the script did not wait for the program")
                os.kill(program, signal.SIGINT)
            out, errors = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (130, "interrupted\n"), errors)

    def test_without_a_program(self):
        code, _, errors = self.call("version")
        self.assertEqual(code, 1)
        self.assertIn("pip install ./python", errors)
        self.assertNotIn("Traceback", errors)

    def test_a_program_that_cannot_be_run(self):
        self.put(SAYS, mode=0o644)
        for before in ("", WINDOWS):
            code, _, errors = self.call("version", before=before)
            self.assertEqual(code, 1)
            self.assertRegex(errors, "^collapse: .*a folder .*collapse cannot be run: Permission denied")


# The console script as Windows runs it, with this system's processes: os.name decides in _program alone.
WINDOWS = ("from collapse import _program; import types, os; _program.os = types.SimpleNamespace(name='nt', path=os.path); "
           "_program.bundled = lambda: os.path.join(os.getcwd(), 'collapse', 'bin', 'collapse'); ")


class Found(unittest.TestCase):
    def test_order(self):
        with mock.patch("collapse.command.bundled", return_value="/site/collapse/bin/collapse"):
            with mock.patch.dict(os.environ, {"COLLAPSE_BINARY": "", "PATH": ""}):
                self.assertEqual(find_binary(), "/site/collapse/bin/collapse")
                self.assertEqual(find_binary(sys.executable), sys.executable)
            with mock.patch.dict(os.environ, {"COLLAPSE_BINARY": sys.executable}):
                self.assertEqual(find_binary(), sys.executable)

    def test_a_checkout_has_none(self):
        self.assertIsNone(_program.bundled())

    def test_windows_paths_with_spaces(self):
        package = r"C:\Program Files\Python 3\Lib\site-packages\collapse"
        windows = mock.Mock(name="os", path=mock.Mock(wraps=ntpath, isfile=lambda path: True, abspath=lambda path: path))
        windows.name = "nt"
        with mock.patch.object(_program, "os", windows), mock.patch.object(_program, "__file__", package + r"\_program.py"):
            path = _program.bundled()
        self.assertEqual(path, package + r"\bin\collapse.exe")
        line = subprocess.list2cmdline([path, "measure", r"C:\my data\f.npy"])  # what Windows is given for the list
        self.assertEqual(line, '"%s" measure "C:\\my data\\f.npy"' % path)


if __name__ == "__main__":
    unittest.main()
