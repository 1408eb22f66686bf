"""Digits with the Trainer of Hugging Face: a callback reports each epoch."""
import tempfile

import collapse
import torch
import transformers
from digits import x, y, x_test, y_test

run = collapse.run()
epochs = len(run.epochs(4))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU()), torch.nn.Linear(32, 10)

    def forward(self, pixels, labels=None):
        logits = self.head(self.body(pixels))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits} if labels is not None else logits


class Report(transformers.TrainerCallback):
    def on_epoch_end(self, args, state, control, model=None, **_):
        with torch.no_grad():
            right = model(torch.from_numpy(x_test)).argmax(1) == torch.from_numpy(y_test)
        run.report(round(state.epoch), {"test/accuracy": right.float().mean().item()})


transformers.set_seed(run.seed or 0)
with tempfile.TemporaryDirectory() as out:
    args = transformers.TrainingArguments(out, num_train_epochs=epochs, learning_rate=run.setting("lr", 0.1), optim="sgd", per_device_train_batch_size=16, lr_scheduler_type="constant",
                                          save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)
    transformers.Trainer(Net(), args, train_dataset=[{"pixels": a, "labels": int(b)} for a, b in zip(x, y)], callbacks=[Report()]).train()
run.done()
