"""For Keras 3: model.fit(..., callbacks=[CollapseCallback(x, y, "out/net")])."""

try:
    import keras
except ImportError as e:
    raise ImportError("collapse: this callback needs keras: %s" % e) from None

from ..history import History
from ..measuring import measure_arrays


class CollapseCallback(keras.callbacks.Callback):
    """Measures the input of the last layer, a Dense one, after each epoch.

    x, y     the train samples: the input of model.predict, and class numbers.
    history  a History, or its folder. every: measure every this many epochs, and the first.
    test     (x, y) of test samples. The other options are those of collapse.measure.
    """

    def __init__(self, x, y, history=None, *, every=1, test=None, batch_size=None, **options):
        super().__init__()
        self.history = history if isinstance(history, History) else History(history)
        self._x, self._y, self._test, self._batch, self.every, self._options = x, y, test, batch_size, every, options

    def on_epoch_end(self, epoch, logs=None):
        values = {name: x for name, x in (logs or {}).items() if isinstance(x, (int, float))}
        epoch += 1  # Keras counts from 0
        if epoch > 1 and epoch % self.every:
            self.history.add(epoch, **values)
            return
        head = self.model.layers[-1]
        weights = head.get_weights()
        if not weights or weights[0].ndim != 2:
            raise TypeError("collapse: the last layer %r has no matrix of weights; the model must end in a Dense layer (put a softmax into its activation)" % head.name)
        body = keras.Model(self.model.inputs, head.input)
        features = lambda x: body.predict(x, batch_size=self._batch, verbose=0)
        test = None if self._test is None else (features(self._test[0]), self._test[1])
        result = measure_arrays(features(self._x), self._y, weights[0].T, weights[1] if len(weights) > 1 else None, test=test, **self._options)
        self.history.add(epoch, result, **values)
