"""Digits with Lightning's Trainer: a callback reports each epoch."""
import collapse
import lightning
import torch
from digits import x, y, x_test, y_test

run = collapse.run()
lightning.seed_everything(run.seed or 0)


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=run.setting("lr", 0.1), momentum=0.9)


class Report(lightning.Callback):
    def on_train_epoch_end(self, trainer, net):
        epoch = trainer.current_epoch + 1
        with torch.no_grad(), run.tap(net.model, epoch) as tap:
            net.model.eval()
            net.model(torch.from_numpy(x))
            tap.labels(torch.from_numpy(y))
            right = net.model(torch.from_numpy(x_test)).argmax(1) == torch.from_numpy(y_test)
            net.model.train()
        run.report(epoch, {"test/accuracy": right.float().mean().item()})


loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=64, shuffle=True)
epochs = len(run.epochs(4))
lightning.Trainer(max_epochs=epochs, callbacks=[Report()], logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu").fit(Net(), loader)
run.done()
