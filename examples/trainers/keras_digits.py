"""Digits with Keras 3 (on PyTorch unless KERAS_BACKEND says otherwise): a callback reports each epoch."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import collapse
import keras
from digits import x, y, x_test, y_test

run = collapse.run()
keras.utils.set_random_seed(run.seed or 0)
model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)])
model.compile(keras.optimizers.SGD(run.setting("lr", 0.1), momentum=0.9), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        run.report(epoch + 1, {"train/accuracy": logs["accuracy"], "test/accuracy": logs["val_accuracy"]})


model.fit(x, y, batch_size=64, epochs=len(run.epochs(4)), validation_data=(x_test, y_test), callbacks=[Report()], verbose=0)
run.done()
