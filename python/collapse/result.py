"""The result of a measurement: the document of `collapse measure --json`, with attributes, and as a table."""

import copy
import html
import textwrap

# The measures that stand for NC1 to NC4 wherever one of each is shown, as in measure/collapse.go (docs/measures.md has the reasons).
PROPERTIES = {"NC1": "nc1_pinv", "NC2": "nc2_means_etf_centred", "NC3": "nc3_centred", "NC4": "nc4_ncc_mismatch"}
_WORDS = {"NC1": "within-class variability", "NC2": "class means to a simplex ETF", "NC3": "classifier to class means", "NC4": "not the nearest class centre"}


class Result(dict):
    """The document as a dict (docs/measuring.md has its keys), with these attributes:

    result.nc1_pinv           a measure, also as result["nc1_pinv"]; one without a value raises AttributeError (KeyError) with the reason
    result.measures           key -> number; result.missing: key -> why there is none
    result.readings           key -> what the number means, in words
    result.finding            the headline
    result.properties()       NC1 to NC4, one measure of each
    result.class_names        names of the classes that occur, in the order of class_counts and per_class
    """

    def __missing__(self, key):
        if key in self.get("measures", {}):
            return self["measures"][key]
        raise KeyError(self._absent(key))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        for of in (self, self.get("measures", {})):
            if name in of:
                return of[name]
        raise AttributeError(self._absent(name))

    def _absent(self, name):
        """Why a result has no such measure or key."""
        if name in self.get("missing", {}):
            return "collapse: %s has no value: %s" % (name, self["missing"][name])
        import difflib
        known = list(self) + list(self.get("measures", {})) + list(self.get("missing", {}))
        near = ([key for key in known if key.startswith(str(name))] + difflib.get_close_matches(str(name), known, n=3))[:3]
        return "collapse: a result has no %r%s" % (name, "; near: " + ", ".join(near) if near else "")

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self) | set(self.get("measures", {})))

    @property
    def class_names(self):
        return list(self.get("labels") or (str(k) for k in range(self["k"])))

    def open(self, key):
        """How far rounding may have changed a measure, in the computation and in the given numbers together; 0 if no shown digit is uncertain."""
        if key not in self.get("reason", {}):
            return 0.0
        return self.get("uncertainty", {}).get(key, 0.0) + self.get("input_rounding", {}).get(key, 0.0)

    def to_dict(self):
        """A plain dict, independent of the result."""
        return copy.deepcopy(dict(self))

    def rows(self):
        """One dict per measure with a value: measure, value, plus_minus, null_low, null_high, reading."""
        null = self.get("null") or {}
        return [{"measure": key, "value": value, "plus_minus": self.open(key), "null_low": null.get(key, {}).get("low"),
                 "null_high": null.get(key, {}).get("high"), "reading": self.get("readings", {}).get(key, "")}
                for key, value in self["measures"].items()]

    def class_rows(self):
        """One dict per class: class, count, and its numbers."""
        keys = self.get("per_class", {})
        return [dict([("class", name), ("count", self["class_counts"][k])] + [(key, keys[key][k]) for key in keys])
                for k, name in enumerate(self.class_names)]

    def to_frame(self, classes=False):
        """A pandas.DataFrame of rows(), indexed by measure; with classes=True, of class_rows(), indexed by class."""
        try:
            import pandas
        except ImportError:
            raise ImportError("collapse: to_frame() needs pandas, which is not installed; %s gives the same rows as dicts"
                              % ("class_rows()" if classes else "rows()")) from None
        return pandas.DataFrame(self.class_rows() if classes else self.rows()).set_index("class" if classes else "measure")

    def properties(self):
        """NC1 to NC4 as a dict; one without a value is left out."""
        return {name: self["measures"][key] for name, key in PROPERTIES.items() if key in self["measures"]}

    def __repr__(self):
        if "measures" not in self or "finding" not in self:
            return super().__repr__()
        lines = textwrap.wrap(self["finding"] + ".", 80) + ["%d samples, %d classes, d = %d" % (self["n"], self["k"], self["d"])]
        rows = {row["measure"]: row for row in self.rows()}
        shown = [(name, PROPERTIES[name], _WORDS[name]) for name in self.properties()]
        if shown:
            shown += [(key.replace("_", " "), key, "") for key in ("accuracy", "test_accuracy") if key in rows]
        else:  # none was asked for
            shown = [(key, key, row["reading"]) for key, row in rows.items()]
        width = max([len(name) for name, _, _ in shown] + [1])
        lines += [("  %-*s  %-12s %s" % (width, name, _number(rows[key], 3), words)).rstrip() for name, key, words in shown]
        return "\n".join(lines + ["  %d measures in .rows(), %d without a value in .missing" % (len(self["measures"]), len(self.get("missing", {})))])

    def _repr_html_(self):
        cells = "".join("<tr><th style='text-align:left'>%s</th><td>%s</td><td style='text-align:left'>%s</td></tr>"
                        % (html.escape(row["measure"]), html.escape(_number(row)), html.escape(row["reading"])) for row in self.rows())
        missing = "".join("<li><b>%s</b>: %s</li>" % (html.escape(key), html.escape(why)) for key, why in self.get("missing", {}).items())
        return ("<p><b>%s.</b><br>%d samples, %d classes, d = %d</p><table>%s</table>%s"
                % (html.escape(self.get("finding", "")), self["n"], self["k"], self["d"], cells,
                   "<details><summary>%d measures have no value</summary><ul>%s</ul></details>" % (len(self["missing"]), missing) if missing else ""))


def _number(row, digits=6):
    return "%.*g%s" % (digits, row["value"], " ± %.2g" % row["plus_minus"] if row["plus_minus"] else "")
