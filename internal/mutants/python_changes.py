"""Lists the small changes that could be made to a Python package, as JSON: what changes.go does for a package of Go.

usage: python_changes.py CHECKOUT PACKAGE      the package's folder below the checkout

Each has the file, its outermost function, the line, the kind, the old and the new text, and which bytes of the file it replaces. What
functions do not hold is left alone, and so is what asserts, annotations and f-strings hold. A change that is no Python is not listed.
"""

import ast
import json
import os
import re
import sys

COMPARISONS = {ast.Lt: ("<", ["<=", ">="]), ast.LtE: ("<=", ["<", ">"]), ast.Gt: (">", [">=", "<="]), ast.GtE: (">=", [">", "<"]),
               ast.Eq: ("==", ["!="]), ast.NotEq: ("!=", ["=="]), ast.Is: ("is", ["is not"]), ast.IsNot: (r"is\s+not", ["is"]),
               ast.In: ("in", ["not in"]), ast.NotIn: (r"not\s+in", ["in"])}
ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "//"),
              ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&")}
OPPOSITE = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """A file's text, by bytes, since that is how a syntax tree counts."""

    def __init__(self, text):
        self.text, self.starts = text, [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node):
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node):
        start, end = self.span(node)
        return self.text[start:end].decode()

    def changed(self, start, end, new):
        return self.text[:start] + new.encode() + self.text[end:]


class Changer(ast.NodeVisitor):
    """Collects the changes of one function."""

    def __init__(self, source, file, name):
        self.source, self.file, self.name, self.list, self.bound = source, file, name, [], set()

    def add(self, kind, node, start, end, new):
        """Replaces a part of a node."""
        first, last = self.source.span(node)
        after = (self.source.text[first:start] + new.encode() + self.source.text[end:last]).decode()
        line = self.source.text.count(b"\n", 0, start) + 1
        self.list.append({"file": self.file, "fn": self.name, "line": line, "kind": kind, "old": " ".join(self.source.of(node).split()),
                          "new": " ".join(after.split()), "from": start, "to": end, "text": new})

    def replace(self, kind, node, new):
        self.add(kind, node, *self.source.span(node), new)

    def between(self, kind, node, left, right, pattern, new):
        """Replaces an operator, which stands after one operand and before the next."""
        start, end = self.source.span(left)[1], self.source.span(right)[0]
        found = re.search(pattern, self.source.text[start:end].decode())
        if found:
            self.add(kind, node, start + found.start(), start + found.end(), new)

    def visit_function(self, node):
        """A function's default values and body. Functions within it belong to it."""
        self.bound |= {argument.arg for argument in node.args.args + node.args.kwonlyargs}
        for part in node.args.defaults + [value for value in node.args.kw_defaults if value] + node.body:
            self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function

    def visit_Assert(self, node):
        """For bugs alone."""

    visit_JoinedStr = visit_Assert  # whose parts have no positions that can be trusted

    def visit_Compare(self, node):
        operands = [node.left] + node.comparators
        for left, operator, right in zip(operands, node.ops, operands[1:]):
            old, others = COMPARISONS[type(operator)]
            for new in others:
                self.between("comparison", node, left, right, old, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:]):
            self.between("condition", node, left, right, r"\b%s\b" % old, new)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        texts = any(isinstance(side, (ast.JoinedStr, ast.List, ast.Tuple)) or isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes))
                    for side in (node.left, node.right))
        if type(node.op) in ARITHMETIC and not texts:  # what lists and words have no other operator for is no change that could run
            old, new = ARITHMETIC[type(node.op)]
            self.between("arithmetic", node, node.left, node.right, re.escape(old), new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub):
            self.replace("arithmetic", node, "(+%s)" % self.source.of(node.operand))
        elif isinstance(node.op, ast.Not):
            self.replace("condition", node, "bool(%s)" % self.source.of(node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self.replace("boolean", node, str(not node.value))
        elif isinstance(node.value, int) and not self.source.of(node).startswith("0o"):  # a mode of a file
            for sign in "+-":
                self.replace("constant", node, "(%s %s 1)" % (self.source.of(node), sign))

    def tested(self, node, always=True):
        """A condition never holds, and always."""
        text = self.source.of(node.test)
        for word in ["False and"] + ["True or"] * always:
            self.replace("condition", node.test, "(%s (%s))" % (word, text))
        self.generic_visit(node)

    visit_If = visit_IfExp = tested

    def visit_While(self, node):
        self.tested(node, always=False)  # it would never end

    def visit_comprehension(self, node):
        for test in node.ifs:
            self.replace("condition", test, "(True or (%s))" % self.source.of(test))
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node.value, (ast.Call, ast.Await)):
            self.replace("statement", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node):
        """An assignment is left out unless it gives a name its first value, without which nothing runs."""
        names = [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)]
        if all(name in self.bound for name in names):
            self.replace("statement", node, "pass")
        self.bound.update(names)
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node):
        self.replace("statement", node, "pass")
        if type(node.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(node.op)]
            self.between("arithmetic", node, node.target, node.value, re.escape(old) + "=", new + "=")
        self.generic_visit(node)

    def visit_Raise(self, node):
        self.replace("failure", node, "pass")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.type is not None:
            self.replace("failure", node.type, "()")
        for part in node.body:
            self.visit(part)

    def visit_Return(self, node):
        if node.value is not None and not (isinstance(node.value, ast.Constant) and not node.value.value):  # False is None to most
            self.replace("return", node.value, "None")
        self.generic_visit(node)

    def visit_Break(self, node):
        self.replace("statement", node, "continue")

    def visit_Continue(self, node):
        self.replace("statement", node, "pass")

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in OPPOSITE:
            end = self.source.span(node.func)[1]
            self.add("minmax", node, end - len(name), end, OPPOSITE[name])
        if name == "abs" and isinstance(node.func, ast.Name):
            self.replace("arithmetic", node, "(%s)" % self.source.of(node.args[0]))
        arguments = sorted(node.args + node.keywords, key=self.source.span)
        for at, argument in enumerate(arguments):
            if isinstance(argument, ast.keyword) and argument.arg is not None:
                start, end = self.source.span(argument)
                start = self.source.span(arguments[at - 1])[1] if at > 0 else start
                self.add("keyword", node, start, end, "")
        self.generic_visit(node)


def functions(node, prefix=""):
    """The outermost functions of a module, with the names of their classes."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, FUNCTIONS):
            yield prefix + part.name, part
        elif isinstance(part, ast.ClassDef):
            yield from functions(part, prefix + part.name + ".")
        elif isinstance(part, (ast.If, ast.Try)):
            yield from functions(part, prefix)


def is_python(text):
    try:
        compile(text, "changed", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def of_file(root, package, file):
    with open(os.path.join(root, file), "rb") as f:
        source = Source(f.read())
    for name, function in functions(ast.parse(source.text)):
        changer = Changer(source, file, name)
        changer.visit(function)
        entry = entered(source, function, package, file + ":" + name)
        for change in changer.list:
            if is_python(source.changed(change["from"], change["to"], change["text"])):
                yield {**change, "entry": entry}


def entered(source, function, package, where):
    """A place in the function, and a statement to put there by which a run says that it came."""
    text = "__import__(%r, None, None, ['at']).at(%r)" % (os.path.basename(package) + ".zz_reached", where)
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1:
        first = function.body[1]  # after the docstring
    if getattr(first, "decorator_list", None):
        first = first.decorator_list[0]
    at = source.span(first)[0]
    line = source.text[source.starts[first.lineno - 1]:at].decode()
    if line.endswith("@"):
        at, line = at - 1, line[:-1]
    return {"from": at, "to": at, "text": text + ("; " if line.strip() else "\n" + line)}


def main():
    root, package = sys.argv[1:]
    changes = []
    for folder, folders, files in os.walk(os.path.join(root, package)):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                changes += of_file(root, package, os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/"))
    json.dump(changes, sys.stdout)


if __name__ == "__main__":
    main()
