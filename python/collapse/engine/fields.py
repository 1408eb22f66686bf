"""Reads the fields of an order; an error says which field is wrong, what was found and what was wanted."""

import math

from .errors import InputError, Refused


class Fields:
    """A JSON object. where is its path for messages, such as "open.net"."""

    def __init__(self, values, where):
        if not isinstance(values, dict):
            raise InputError("%s is %s; wanted an object" % (where, shown(values)))
        self.values, self.where = values, where

    def get(self, name, kinds, wanted):
        """The value of a field whose type is one of kinds. True is not a number."""
        value = self.values.get(name)
        if not isinstance(value, kinds) or isinstance(value, bool) != (kinds is bool):
            self.wrong(name, wanted)
        return value

    def wrong(self, name, wanted):
        found = "is " + shown(self.values[name]) if name in self.values else "is missing"
        raise InputError("%s.%s %s; wanted %s" % (self.where, name, found, wanted))

    def text(self, name):
        return self.get(name, str, "a text")

    def choice(self, name, known):
        """One of the names that this engine knows; any other is refused."""
        value = self.text(name)
        if value not in known:
            raise Refused("%s.%s is %s; this engine has %s" % (self.where, name, shown(value), ", ".join(known)))
        return value

    def whole(self, name, least, most=2**31 - 1):
        value = self.get(name, int, "a whole number from %d to %d" % (least, most))
        if not least <= value <= most:
            self.wrong(name, "a whole number from %d to %d" % (least, most))
        return value

    def number(self, name, least=0.0):
        """A finite number that is not below least."""
        value = float(self.get(name, (int, float), "a number"))
        if not (math.isfinite(value) and value >= least):
            self.wrong(name, "a finite number of at least %g" % least)
        return value

    def flag(self, name):
        return self.get(name, bool, "true or false")

    def group(self, name):
        return Fields(self.get(name, dict, "an object"), self.where + "." + name)

    def items(self, name, wanted):
        """A list; null, which is how Go writes an empty one, counts, too."""
        return [] if self.values.get(name, 0) is None else self.get(name, list, wanted)

    def groups(self, name):
        return [Fields(v, "%s.%s[%d]" % (self.where, name, i)) for i, v in enumerate(self.items(name, "a list of objects"))]

    def texts(self, name):
        values = self.items(name, "a list of texts")
        if not all(isinstance(v, str) for v in values):
            self.wrong(name, "a list of texts")
        return values


def shown(value):
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
