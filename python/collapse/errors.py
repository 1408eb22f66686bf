"""The error that a Tap raises; in a module of its own because it needs no torch."""


class ClassifierError(ValueError):
    """No classifier could be proved, or more than one. modules names those that would work as `classifier`."""

    def __init__(self, message, modules=()):
        super().__init__("collapse: " + message)
        self.modules = list(modules)
