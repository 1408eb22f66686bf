"""What pip asks of build_backend. Go and the program are stand-ins here, which make an empty wheel; scripts/check_wheel.sh uses the real ones."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOOK = "import build_backend, sys; print(build_backend.%s(sys.argv[1]))"
# Each notes how it was called, beside itself, and makes a wheel in the folder that follows its last flag.
MAKES = """
import os, sys
with open(__file__ + '.calls', 'a') as f: f.write('%s %s\\n' % (os.getcwd(), sys.argv[1:]))
if sys.argv[1:] == ['env', 'GOVERSION']: print('@version'); sys.exit(0)
print('said on standard output')
for name in @wheels: open(os.path.join(sys.argv[-1], name), 'w').close()
sys.exit(@code)
"""
WHEEL = "collapse_lab-0.2.0-py3-none-any.whl"


class Backend(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="a folder ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.path("out put")
        os.mkdir(self.out)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def checkout(self):
        """A checkout that has what the backend looks at."""
        os.makedirs(self.path("check out", "python"))
        shutil.copy(os.path.join(ROOT, "python", "build_backend.py"), self.path("check out", "python"))
        shutil.copy(os.path.join(ROOT, "go.mod"), self.path("check out"))
        return self.path("check out", "python")

    def stand_in(self, name, version="go1.99.1", wheels=(WHEEL,), code=0):
        os.makedirs(self.path("bin"), exist_ok=True)
        text = MAKES.replace("@version", version).replace("@wheels", repr(list(wheels))).replace("@code", str(code))
        with open(self.path("bin", name), "w") as f:
            f.write("#!%s\n%s" % (sys.executable, text))
        os.chmod(self.path("bin", name), 0o755)
        return self.path("bin", name)

    def call(self, hook="build_wheel", folder=None, **variables):
        """(exit status, standard output, standard error) of a hook, called as frontends do, with nothing on PATH but stand-ins."""
        env = dict({"PATH": self.path("bin"), "PYTHONPATH": folder or os.path.join(ROOT, "python")}, **variables)
        done = subprocess.run([sys.executable, "-c", HOOK % hook, self.out], cwd=folder or os.path.join(ROOT, "python"), env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        return done.returncode, done.stdout, done.stderr

    def refused(self, *patterns, **arguments):
        code, out, errors = self.call(**arguments)
        self.assertEqual((code, out), (1, ""), errors)
        self.assertNotIn("Traceback", errors)
        for pattern in patterns:
            self.assertRegex(errors, pattern)
        self.assertEqual(os.listdir(self.out), [])

    def test_go_makes_the_wheel(self):
        go = self.stand_in("go")
        python = self.checkout()
        self.assertEqual(self.call(folder=python)[:2], (0, WHEEL + "\n"))
        self.assertEqual(os.listdir(self.out), [WHEEL])
        with open(go + ".calls") as f:
            asked, ran = f.read().splitlines()
        self.assertRegex(ran, re.escape(self.path("check out") + " ['run', './internal/release', '-platforms', 'host', '-make', 'wheels', '-out', '"))

    def test_a_program_makes_the_wheel_without_go(self):
        program = self.stand_in("collapse")
        python = self.checkout()
        self.assertEqual(self.call(folder=python, COLLAPSE_BINARY=program)[:2], (0, WHEEL + "\n"))
        self.assertEqual(os.listdir(self.out), [WHEEL])
        with open(program + ".calls") as f:
            self.assertRegex(f.read(), re.escape("%s ['wheel', '--sources', '%s', '--out', '" % (python, python)))

    def test_no_go(self):
        self.refused(r"built with Go 1\.26\.\d+ or later, and there is no `go` on PATH.*go\.dev.*COLLAPSE_BINARY")

    def test_an_old_go(self):
        for version in ("go1.19.8", "go1.25.99", "go1.9"):
            go = self.stand_in("go", version=version)
            self.refused(r"built with Go 1\.26\.\d+ or later, and %s is %s: install Go" % (re.escape(go), re.escape(version)))
        for version in ("go1.26.0", "go1.27rc1", "go2.0", "devel go1.28-abcdef"):
            self.stand_in("go", version=version)
            self.assertEqual(self.call()[0], 0, version)

    def test_a_go_that_fails(self):
        self.stand_in("go", wheels=(), code=1)
        self.refused("said on standard output", "could not be built.*COLLAPSE_BINARY")
        self.stand_in("go", wheels=())
        self.refused("one wheel, and there are 0")

    def test_a_program_that_fails(self):
        program = self.stand_in("old", wheels=(), code=2)
        self.refused("COLLAPSE_BINARY.*made no wheel; is it a program of this checkout", COLLAPSE_BINARY=program)
        self.refused("COLLAPSE_BINARY is .*nowhere.*not a program", COLLAPSE_BINARY=self.path("nowhere"))
        self.refused("COLLAPSE_BINARY is .*not a program", COLLAPSE_BINARY=self.folder)
        with open(self.path("text"), "w") as f:
            f.write("no program")
        os.chmod(self.path("text"), 0o755)
        self.refused("text cannot be run: Exec format error", COLLAPSE_BINARY=self.path("text"))

    def test_a_folder_without_its_checkout(self):
        self.stand_in("go")
        python = self.checkout()
        os.remove(self.path("check out", "go.mod"))
        self.refused("copied out of its checkout, as pip before 21.3 does", folder=python)

    def test_no_sdist(self):
        code, _, errors = self.call("build_sdist")
        self.assertEqual(code, 1)
        self.assertRegex(errors, "UnsupportedOperation: collapse-lab has no sdist.*pip wheel --no-deps ./python")


if __name__ == "__main__":
    unittest.main()
