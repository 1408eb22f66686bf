"""What a capture's folder may hold: only that is ever removed."""

import json
import os
import unittest

from support import FolderTest

from collapse import folders


class FoldersTest(FolderTest):
    def put(self, name, text=""):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    OWN = ("tap.json", "tap.json.part", "weight.npy", "bias.npy", "bias.npy.part", "features.ncs", "features/00000.npy", "features/00001.npy.part", "labels/00000.npy", "true_labels/123456.npy",
           "corrupted/00000.npy", "layers/a.b/00000.npy", "layers/a.b/00000.npy.part", "layers/c.ncs", "layers/c.ncs.part")
    FOREIGN = ("x", "tap.json.bak", "weight.npz", "features.npy", "features/x.npy", "features/0000.npy", "features/00000.npy.old", "features/00000.txt", "labels/00000.npy/x",
               "layers/x.npy", "layers/a/b/00000.npy", "layers/a/x", "tap.json/x", "other/00000.npy", "layer/a/00000.npy", "layers/c.ncs/x", "labels.ncs")

    def test_what_a_tap_writes(self):
        for name in self.OWN:
            self.put(name, "{}")
        folders.refuse_foreign(self.folder)
        for name in self.FOREIGN:
            with self.subTest(name):
                self.setUp()
                self.put("tap.json")
                self.put("features/00000.npy")
                path = self.put(name) if name != "tap.json/x" else None
                if path is None:
                    os.remove(self.folder + "/tap.json")
                    path = self.put(name)
                with self.assertRaisesRegex(FileExistsError, "overwrite=True replaces captures only, and '.*' is not part of one") as caught:
                    folders.refuse_foreign(self.folder)
                named = str(caught.exception).split("'")[1]
                self.assertTrue(path == named or path.startswith(named + "/"), named)

    def test_links_are_foreign_whatever_they_are_called(self):
        outside = self.folder + "-outside"
        os.mkdir(outside)
        open(outside + "/00000.npy", "w").close()
        for name, target in (("tap.json", outside + "/00000.npy"), ("features", outside), ("layers", outside), ("layers/a", outside), ("features/00000.npy", outside + "/00000.npy"),
                             ("layers/a.ncs", outside + "/00000.npy")):
            with self.subTest(name):
                self.setUp()
                os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
                os.symlink(target, os.path.join(self.folder, name))
                with self.assertRaises(FileExistsError):
                    folders.refuse_foreign(self.folder)

    def test_what_says_that_a_folder_is_a_capture(self):
        self.assertFalse(folders._is_capture(self.folder))
        for text, want in ((json.dumps({"format": "collapse_tap 1"}), True), (json.dumps({"format": "collapse_tap 2", "samples": 3}), True),
                           (json.dumps({"format": "collapse_tap"}), False), (json.dumps({"format": 3}), False),
                           ("{}", False), ("[]", False), ("3", False), ('{"format": "collapse_tap 1"', False), ("", False), ("\0" * 100, False)):
            self.put("tap.json", text)
            self.assertIs(folders._is_capture(self.folder), want, text)

    def test_names_of_layers(self):
        for name, want in (("fc", "layers/fc"), ("", "layers/model"), ("a.0.b", "layers/a.0.b"), ("a/b", "layers/a%2Fb"), ("é", "layers/%C3%A9")):
            self.assertEqual(folders.layer_stream(name), want)

    def test_where_a_capture_is_written(self):
        fresh = folders.CaptureFolder(self.folder, False)
        self.assertEqual((fresh.path, fresh.replaces), (self.folder, False))
        os.mkdir(self.folder)
        self.assertEqual(folders.CaptureFolder(self.folder, True).path, self.folder)  # empty
        self.put("tap.json", '{"format": "collapse_tap 1"}')
        os.chmod(self.folder, 0o750)
        with self.assertRaisesRegex(FileExistsError, "for example '%s'" % os.path.join(self.folder, "epoch-001")):
            folders.CaptureFolder(self.folder, False)
        self.put("../capture.overwriting/weight.npy")  # left by a killed process
        again = folders.CaptureFolder(self.folder, True)
        self.assertEqual((again.path, again.replaces, os.listdir(again.path), os.stat(again.path).st_mode & 0o777), (self.folder + ".overwriting", True, [], 0o750))
        self.put("../capture.overwritten/weight.npy")
        self.put("../capture.overwriting/bias.npy")
        again.commit()
        self.assertEqual((os.listdir(self.folder), sorted(os.listdir(os.path.dirname(self.folder)))), (["bias.npy"], ["capture"]))
        self.assertRaises(FileExistsError, folders.CaptureFolder, self.folder, True)  # no tap.json: it is not one

    def test_what_is_cleared(self):
        folder = folders.CaptureFolder(self.folder, False)
        folder.clear()  # it never came to be
        self.put("features/00000.npy")
        self.put("weight.npy")
        folder.clear()
        self.assertEqual(os.listdir(self.folder), [])
        self.put("mine")
        self.assertRaises(FileExistsError, folder.clear)
        self.assertEqual(os.listdir(self.folder), ["mine"])
        os.remove(self.folder + "/mine")
        self.put("tap.json", '{"format": "collapse_tap 1"}')
        folder = folders.CaptureFolder(self.folder, True)
        folder.clear()
        self.assertEqual((os.path.exists(folder.path), os.listdir(self.folder)), (False, ["tap.json"]))


if __name__ == "__main__":
    unittest.main()
