"""Digits in plain JAX: gradients of a function, and one report for each epoch."""
import collapse
import jax
import jax.numpy as jnp
from digits import x, y, x_test, y_test

run = collapse.run()
first, second = jax.random.split(jax.random.key(run.seed or 0))
weights = [jax.random.normal(first, (64, 32)) / 8, jnp.zeros(32), jax.random.normal(second, (32, 10)) / 6, jnp.zeros(10)]
logits = lambda w, images: jax.nn.relu(images @ w[0] + w[1]) @ w[2] + w[3]
loss = lambda w, images, labels: -jnp.mean(jax.nn.log_softmax(logits(w, images))[jnp.arange(len(labels)), labels])
step = jax.jit(lambda w, images, labels: [a - run.setting("lr", 0.1) * g for a, g in zip(w, jax.grad(loss)(w, images, labels))])
for epoch in run.epochs(4):
    for i in range(0, len(x), 50):
        weights = step(weights, x[i:i + 50], y[i:i + 50])
    run.report(epoch, {"test/loss": float(loss(weights, x_test, y_test)), "test/accuracy": float((logits(weights, x_test).argmax(1) == y_test).mean())})
run.done()
