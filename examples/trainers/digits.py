"""The digits of scikit-learn: 1797 real images of 8 × 8 pixels, which come with the package."""
import numpy
from sklearn.datasets import load_digits

images, labels = load_digits(return_X_y=True)
images = (images / 16).astype(numpy.float32)
labels = labels.astype(numpy.int64)
x, y, x_test, y_test = images[:1500], labels[:1500], images[1500:], labels[1500:]
