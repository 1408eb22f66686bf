"""Digits with scikit-learn: a perceptron that learns pass by pass."""
import collapse
from digits import x, y, x_test, y_test
from sklearn.neural_network import MLPClassifier

run = collapse.run()
model = MLPClassifier([32], solver="sgd", learning_rate_init=run.setting("lr", 0.1), random_state=run.seed or 0)
for epoch in run.epochs(4):
    model.partial_fit(x, y, classes=range(10))
    run.report(epoch, {"test/loss": model.loss_, "test/accuracy": model.score(x_test, y_test)})
run.done()
