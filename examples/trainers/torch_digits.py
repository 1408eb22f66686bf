"""Digits in plain PyTorch: settings from the lab, features through a Tap, a checkpoint for every epoch."""
import collapse
import torch
from digits import x, y, x_test, y_test

run = collapse.run()
torch.manual_seed(run.seed or 0)
X, Y, X_test, Y_test = map(torch.from_numpy, (x, y, x_test, y_test))
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
optimiser = torch.optim.SGD(model.parameters(), lr=run.setting("lr", 0.1), momentum=0.9)
if run.state:
    for part, saved in zip((model, optimiser), torch.load(run.state + "/state.pt")): part.load_state_dict(saved)
for epoch in run.epochs(4):
    for batch in torch.randperm(len(X), generator=torch.Generator().manual_seed(epoch)).split(64):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(X[batch]), Y[batch]).backward()
        optimiser.step()
    with torch.no_grad(), run.tap(model, epoch) as tap:
        model.eval()
        model(X)
        tap.labels(Y)
        model.train()
    with run.checkpoint(epoch) as folder: torch.save([model.state_dict(), optimiser.state_dict()], folder + "/state.pt")
    run.report(epoch, {"test/accuracy": (model(X_test).argmax(1) == Y_test).float().mean().item()})
run.done()
