package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// source is a file's text and the positions in it.
type source struct {
	fset *token.FileSet
	src  []byte
}

func (s source) off(p token.Pos) int { return s.fset.Position(p).Offset }

func (s source) text(n ast.Node) string { return string(s.src[s.off(n.Pos()):s.off(n.End())]) }

// changer collects the changes of one function.
type changer struct {
	source
	file, fn string
	decl     *ast.FuncDecl
	labels   []edit
	unread   map[ast.Node]bool // results beside an error, at which nobody looks
	list     []*mutant
}

func inFunction(s source, file string, fn *ast.FuncDecl) []*mutant {
	c := &changer{source: s, file: file, decl: fn, fn: fn.Name.Name, unread: map[ast.Node]bool{}}
	if fn.Recv != nil && len(fn.Recv.List) > 0 {
		c.fn = s.text(fn.Recv.List[0].Type) + "." + c.fn
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		var label *ast.Ident
		switch n := n.(type) {
		case *ast.LabeledStmt:
			label = n.Label
		case *ast.BranchStmt:
			label = n.Label
		}
		if label != nil {
			c.labels = append(c.labels, edit{s.off(label.Pos()), s.off(label.End()), label.Name + labelMark})
		}
		return true
	})
	c.walk(fn.Body, fn.Type)
	for _, m := range c.list {
		m.labels = c.labels
	}
	return c.list
}

// walk visits a function's body; those of function literals have their own results.
func (c *changer) walk(body ast.Node, of *ast.FuncType) {
	ast.Inspect(body, func(n ast.Node) bool {
		if c.unread[n] {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			c.walk(n.Body, n.Type)
			return false
		case *ast.CallExpr:
			if c.text(n.Fun) == "panic" { // what only bugs reach
				return false
			}
			c.call(n)
			if c.text(n.Fun) == "math.Inf" { // whose argument is a sign
				return false
			}
		case *ast.BinaryExpr:
			c.binary(n)
		case *ast.BasicLit:
			if n.Kind == token.INT && !strings.HasPrefix(n.Value, "0o") { // a mode of a file
				c.replace("constant", n, "("+n.Value+"+1)")
				c.replace("constant", n, "("+n.Value+"-1)")
			}
		case *ast.UnaryExpr:
			c.unary(n)
		case *ast.Ident:
			c.boolean(n)
		case *ast.IfStmt:
			if c.onlyPanics(n.Body) {
				return false
			}
			c.condition(n)
		case *ast.ExprStmt:
			c.statement(n)
		case *ast.AssignStmt:
			c.assignment(n)
		case *ast.ReturnStmt:
			c.failure(n, of)
		}
		return true
	})
}

// onlyPanics reports whether a block is for bugs alone.
func (c *changer) onlyPanics(b *ast.BlockStmt) bool {
	return len(b.List) == 1 && strings.HasPrefix(c.text(b.List[0]), "panic(")
}

func (c *changer) add(kind string, n ast.Node, from, to token.Pos, text string) {
	e := edit{c.off(from), c.off(to), text}
	start, end := c.off(n.Pos()), c.off(n.End())
	after := string(c.src[start:e.from]) + text + string(c.src[e.to:end])
	c.list = append(c.list, &mutant{
		file: c.file, fn: c.fn, line: c.fset.Position(from).Line, kind: kind, edit: e,
		old: oneLine(c.text(n)), new: oneLine(after),
		body:    span{c.off(c.decl.Body.Lbrace) + 1, c.off(c.decl.Body.Rbrace)},
		results: c.decl.Type.Results.NumFields() > 0,
	})
}

func (c *changer) replace(kind string, n ast.Node, text string) {
	c.add(kind, n, n.Pos(), n.End(), text)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var operators = map[token.Token][]string{
	token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"},
}

func (c *changer) binary(n *ast.BinaryExpr) {
	kind := "comparison"
	switch n.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO:
		kind = "arithmetic"
	case token.LAND, token.LOR:
		kind = "condition"
	}
	for _, other := range operators[n.Op] {
		c.add(kind, n, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
	}
}

func (c *changer) unary(n *ast.UnaryExpr) {
	switch n.Op {
	case token.SUB:
		c.replace("arithmetic", n, "(+"+c.text(n.X)+")")
	case token.NOT:
		c.replace("condition", n, "("+c.text(n.X)+")")
	}
}

func (c *changer) boolean(n *ast.Ident) {
	switch n.Name {
	case "true":
		c.replace("boolean", n, "false")
	case "false":
		c.replace("boolean", n, "true")
	}
}

// condition lets an if never hold, and always. Failures that always happen are left out: every test notices.
func (c *changer) condition(n *ast.IfStmt) {
	text := c.text(n.Cond)
	c.replace("condition", n.Cond, "false && ("+text+")")
	if !strings.Contains(text, "err != nil") {
		c.replace("condition", n.Cond, "true || ("+text+")")
	}
}

// statement leaves out a call that is made for its effect. Without locks a test sees nothing, but the race detector does.
func (c *changer) statement(n *ast.ExprStmt) {
	call, ok := n.X.(*ast.CallExpr)
	if !ok {
		return
	}
	name := c.text(call.Fun)
	if name != "panic" && !strings.HasSuffix(name, "Lock") && !strings.HasSuffix(name, "Unlock") {
		c.replace("statement", n, ";")
	}
}

func (c *changer) assignment(n *ast.AssignStmt) {
	switch n.Tok {
	case token.ADD_ASSIGN:
		c.add("arithmetic", n, n.TokPos, n.TokPos+2, "-=")
		c.replace("statement", n, ";")
	case token.SUB_ASSIGN:
		c.add("arithmetic", n, n.TokPos, n.TokPos+2, "+=")
	case token.ASSIGN:
		if id, ok := n.Lhs[0].(*ast.Ident); len(n.Lhs) == 1 && (!ok || id.Name != "_") {
			c.replace("statement", n, ";")
		}
	}
}

// failure returns nil instead of an error. A call is still made, for its effect.
func (c *changer) failure(n *ast.ReturnStmt, of *ast.FuncType) {
	if of.Results == nil || len(n.Results) != of.Results.NumFields() {
		return
	}
	list := of.Results.List
	if id, ok := list[len(list)-1].Type.(*ast.Ident); !ok || id.Name != "error" {
		return
	}
	last := n.Results[len(n.Results)-1]
	text := c.text(last)
	_, called := last.(*ast.CallExpr)
	for _, n := range n.Results[:len(n.Results)-1] {
		c.unread[n] = text != "nil"
	}
	switch {
	case text == "nil":
	case called && len(n.Results) == 1 && !strings.HasPrefix(text, "fmt.") && !strings.HasPrefix(text, "errors."):
		c.replace("failure", last, "func() error { _ = "+text+"; return nil }()")
	default:
		c.replace("failure", last, "error(nil)")
	}
}

var opposite = map[string]string{"min": "max", "max": "min", "math.Min": "math.Max", "math.Max": "math.Min"}

func (c *changer) call(n *ast.CallExpr) {
	name := c.text(n.Fun)
	if other := opposite[name]; other != "" {
		c.add("minmax", n, n.Fun.Pos(), n.Fun.End(), other)
	}
	if name == "math.Abs" {
		c.replace("arithmetic", n, "("+c.text(n.Args[0])+")")
	}
	if name == "math.Inf" {
		c.replace("arithmetic", n, "(-"+c.text(n)+")")
	}
	for _, effect := range []string{".Sync", "Rename", ".Commit"} {
		if strings.HasSuffix(name, effect) {
			c.replace("statement", n, "error(nil)")
		}
	}
}
