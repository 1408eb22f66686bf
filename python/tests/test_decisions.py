"""The table of what labels mean, through every door of the package: arrays, files, the folder of a Tap, layers, a loop's Meter, and the callbacks of
Lightning, the Hugging Face Trainer and Keras, called by these libraries. The program's own tests take it through files and the page
(internal/featurefiles/decisiontest)."""

import importlib.util
import json
import logging
import os
import re
import unittest

import numpy as np

from support import ROOT, FolderTest, needs_torch, torch

import collapse
import collapse.callbacks

TABLE = os.path.join(ROOT, os.pardir, "internal", "featurefiles", "decisiontest", "decisions.json")
N, D = 24, 5


def needs(library):
    """No stand-in: the library itself, on PyTorch, in the environment of scripts/peers_env.sh."""
    return unittest.skipUnless(torch and importlib.util.find_spec(library), library + " is not installed")


def decisions():
    with open(TABLE, encoding="utf-8") as f:
        return json.load(f)


def of_models():
    """The rows for doors that take a model, which always has a classifier: without one there is nothing to prove and no input to take. Of one
    row, a Tap makes two (kinds.py), and so decides otherwise."""
    return [case for case in decisions() if case.get("rows") and case.get("tap") != ""]


def made(case):
    """H, y, W; W None without a classifier."""
    labels = case["labels"]
    classes = np.resize(case.get("class", range(len(labels))), N)
    H = np.eye(D)[classes] + 0.01 * np.sin(np.arange(N * D)).reshape(N, D)
    y = np.resize(np.array(labels, {"float": float, "bool": bool}.get(case.get("as"))), N)
    y = {"row": y.reshape(1, N), "column": y.reshape(N, 1), "short": y[:-1]}.get(case.get("shape"), y)
    if case.get("shape") == "one-hot":
        y = np.resize(np.eye(len(labels)), (N, len(labels)))
    return H, y, np.eye(case["rows"], D) if case.get("rows") else None


def options(case):
    return {"classes": case.get("classes"), "ignore_index": case.get("ignore"), "null": 0}


class DecisionsTest(FolderTest):
    def check(self, case, call, refused):
        with self.subTest(**{name: str(case[name]) for name in ("what", "labels", "rows", "classes", "ignore") if name in case}):
            if refused:
                with self.assertRaises((ValueError, TypeError, collapse.MeasureError)) as caught:
                    call()
                self.assertRegex(str(caught.exception), refused)
                return
            found = call()
            self.assertEqual(found["k"], case["k"])
            self.assertEqual(found.get("labels"), case.get("names"))
            if case.get("rows"):
                self.assertEqual(found.accuracy, 1)

    def test_arrays(self):
        for case in decisions():
            H, y, W = made(case)
            self.check(case, lambda: collapse.measure(H, y, W, **options(case)), case.get("refused"))

    def test_a_label_to_ignore_that_none_is(self):
        H, y, _ = made({"labels": ["cat", "dog"]})
        found = collapse.measure(H, y, ignore_index=["emu", 1], null=0)  # 1 is a word here, not the class of that number
        self.assertEqual((found.k, [note for note in found.notes if "no sample" in note]), (2, ["ignore_index emu: no sample has this label", "ignore_index 1: no sample has this label"]))

    def test_lists_of_objects(self):
        """Columns of pandas hold Python's own numbers and words."""
        for case in decisions():
            H, y, W = made(case)
            self.check(case, lambda: collapse.measure(H, y.astype(object), W, **options(case)), case.get("refused"))

    def test_files(self):
        for i, case in enumerate(decisions()):
            H, y, W = made(case)
            path = "%s%d.npz" % (self.folder, i)
            np.savez(path, features=H, labels=y, **{} if W is None else {"weight": W})
            self.check(case, lambda: collapse.measure(path, **options(case)), case.get("refused"))

    @needs_torch
    def test_the_folder_of_a_tap(self):
        for i, case in enumerate(of_models()):
            self.check(case, lambda: self.tapped(case, "%s%d" % (self.folder, i)), case.get("tap", case.get("refused")))

    @needs_torch
    def test_layers(self):
        for case in of_models():
            H, y, W = made(case)
            layers = lambda: collapse.measure_layers(model_of(W), [(torch.tensor(H), y)], ["0"], **options(case))["features"]
            self.check(case, layers, case.get("tap", case.get("refused")))

    @needs_torch
    def test_the_meter_of_a_loop(self):
        for case in of_models():
            H, y, W = made(case)
            meter = collapse.callbacks.Meter([(torch.tensor(H), y)], **options(case))
            self.check(case, lambda: meter(model_of(W), 1), case.get("tap", case.get("refused")))

    @needs("lightning")
    def test_the_callback_of_lightning(self):
        import lightning
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

        from collapse.callbacks.lightning import CollapseCallback

        class Module(lightning.LightningModule):
            def __init__(self, model):
                super().__init__()
                self.model = model

            def forward(self, x):
                return self.model(x)

            def training_step(self, batch, _):
                return 0 * self(batch[0]).sum()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        for case in of_models():
            H, y, W = made(case)
            kept = Kept()
            trainer = lightning.Trainer(max_epochs=1, callbacks=[CollapseCallback(kept, **options(case))], default_root_dir=self.folder, accelerator="cpu", logger=False,
                                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
            loader = torch.utils.data.DataLoader([(H, y)], batch_size=None)
            self.check(case, lambda: trainer.fit(Module(model_of(W)), loader) or kept.result, case.get("tap", case.get("refused")))

    @needs("transformers")
    def test_the_callback_of_the_hugging_face_trainer(self):
        for case in of_models():
            self.check(case, lambda: self.trained(case, **options(case)), case.get("tap", case.get("refused")))

    @needs("transformers")
    def test_the_hugging_face_trainer_s_own_ignored_label(self):
        """Losses of transformers ignore −100, so its callback leaves it out unless told otherwise: the one default that no other door has."""
        (case,) = [case for case in of_models() if case.get("ignore") == [-100]]
        self.check(case, lambda: self.trained(case, null=0), None)

    def trained(self, case, **options):
        """What the callback of the Hugging Face Trainer measures."""
        import transformers

        from collapse.callbacks.huggingface import CollapseCallback

        class Model(torch.nn.Module):
            def __init__(self, model):
                super().__init__()
                self.model = model

            def forward(self, x, labels=None):
                logits = self.model(x)
                return {"loss": 0 * logits.sum(), "logits": logits}

        H, y, W = made(case)
        kept = Kept()
        batch = {"x": torch.tensor(H), "labels": y if y.dtype.kind == "U" else torch.tensor(y)}
        arguments = transformers.TrainingArguments(output_dir=self.folder, num_train_epochs=1, use_cpu=True, remove_unused_columns=False, report_to=[], save_strategy="no",
                                                   disable_tqdm=True)
        trainer = transformers.Trainer(Model(model_of(W)), arguments, train_dataset=[batch], data_collator=lambda batches: batches[0], callbacks=[CollapseCallback(kept, **options)])
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
        return kept.result

    @needs("keras")
    def test_the_callback_of_keras(self):
        os.environ.setdefault("KERAS_BACKEND", "torch")
        import keras

        from collapse.callbacks.keras import CollapseCallback

        for case in decisions():
            if not case.get("rows"):
                continue
            H, y, W = made(case)
            inputs = keras.Input((D,))
            model = keras.Model(inputs, keras.layers.Dense(len(W), use_bias=False)(keras.layers.Identity()(inputs)))
            model.layers[-1].set_weights([W.T])
            kept = Kept()
            callback = CollapseCallback(H, y, kept, **options(case))
            callback.set_model(model)
            self.check(case, lambda: callback.on_epoch_end(0) or kept.result, case.get("refused"))

    def tapped(self, case, folder):
        H, y, W = made(case)
        model = model_of(W)
        with torch.no_grad(), collapse.Tap(model, folder) as tap:
            model(torch.tensor(H))
            tap.labels(y, ignore_index=case.get("ignore"))
        return collapse.measure(folder, **options(case))


class Kept(collapse.History):
    """Keeps the whole result that a callback adds."""

    def add(self, epoch, result=None, split="train", **values):
        self.result = result
        super().add(epoch, result, split, **values)


def model_of(W):
    """A layer that changes nothing, and a classifier of rows W."""
    model = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Linear(D, len(W), dtype=torch.float64)).eval()
    with torch.no_grad():
        model[1].weight.copy_(torch.tensor(W))
        model[1].bias.zero_()
    return model


if __name__ == "__main__":
    unittest.main()
