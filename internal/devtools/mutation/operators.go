package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
)

// finder collects the mutants of one file.
type finder struct {
	source   *source
	file     *file
	base     int
	function string
	// parents are the nodes that contain the one that is visited, the outermost first.
	parents []ast.Node
	// needless are the values of cases that change nothing: without them the same is done.
	needless map[ast.Node]bool
	found    [][]*mutant
}

// fileMutants returns the mutants of a file, those of one site together. Not all of them need to compile.
func fileMutants(s *source, f *file) [][]*mutant {
	v := &finder{source: s, file: f, base: s.fset.File(f.syntax.FileStart).Base(), needless: map[ast.Node]bool{}}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil {
			v.parents = v.parents[:len(v.parents)-1]
			return true
		}
		if d, ok := n.(ast.Decl); ok && len(v.parents) == 1 {
			v.function = declared(d)
		}
		if !v.isInNeedless(n) {
			v.visit(n)
		}
		v.parents = append(v.parents, n)
		return true
	})
	return v.found
}

// declared names a declaration, for the key of its mutants.
func declared(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return ""
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	return types.ExprString(f.Recv.List[0].Type) + "." + f.Name.Name
}

func (v *finder) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		v.negate(n.Cond)
		v.force(n)
	case *ast.ForStmt:
		v.negate(n.Cond)
	case *ast.CaseClause:
		v.caseClause(n)
	case *ast.AssignStmt:
		v.pairs(n)
	case *ast.BinaryExpr:
		v.binary(n)
		v.operands(n)
	case *ast.BasicLit:
		v.number(n)
	case *ast.Ident:
		v.boolean(n)
		v.constant(n)
	case *ast.CallExpr:
		v.appended(n)
		v.appends(n)
		v.clone(n)
	case *ast.CompositeLit:
		v.fields(n)
	case *ast.BlockStmt:
		v.removeFrom(n.List)
	case *ast.CommClause:
		v.removeFrom(n.Body)
	}
}

// add notes the replacements of what stands between two positions of one line.
func (v *finder) add(operator string, from, to token.Pos, with ...string) {
	at, end := int(from)-v.base, int(to)-v.base
	if len(with) == 0 || strings.Contains(string(v.file.text[at:end]), "\n") {
		return
	}
	var mutants []*mutant
	for _, w := range with {
		mutants = append(mutants, &mutant{
			source: v.source, file: v.file, function: v.function, operator: operator, at: at, end: end, with: w,
		})
	}
	v.found = append(v.found, mutants)
}

func (v *finder) text(n ast.Node) string {
	return string(v.file.text[int(n.Pos())-v.base : int(n.End())-v.base])
}

// negate negates a condition. A comparison for equality is left to binary, which does the same.
func (v *finder) negate(cond ast.Expr) {
	if cond == nil {
		return
	}
	if isEquality(cond) {
		return
	}
	v.add("negate the condition", cond.Pos(), cond.End(), "!("+v.text(cond)+")")
}

func isEquality(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ)
}

func (v *finder) caseClause(c *ast.CaseClause) {
	parent := v.parents[len(v.parents)-2] // of the block that the clause is in
	s, isSwitch := parent.(*ast.SwitchStmt)
	if isSwitch && s.Tag == nil {
		for _, cond := range c.List {
			v.negate(cond)
		}
	}
	if isSwitch && v.isNeedless(s, c) {
		for _, value := range c.List {
			v.needless[value] = true
		}
		return
	}
	v.removeFrom(c.Body)
	for i, value := range c.List {
		switch {
		case i > 0:
			v.add("drop a value of the case", c.List[i-1].End(), value.End(), "")
		case len(c.List) > 1:
			v.add("drop a value of the case", value.Pos(), c.List[1].Pos(), "")
		}
	}
}

// isNeedless reports whether a case that names constants changes nothing: it is there because every constant
// of the type must be named.
func (v *finder) isNeedless(s *ast.SwitchStmt, c *ast.CaseClause) bool {
	if c.List == nil {
		return false
	}
	for _, value := range c.List {
		if s.Tag == nil || v.source.info.Types[value].Value == nil {
			return false
		}
	}
	for _, clause := range s.Body.List {
		if other := clause.(*ast.CaseClause); other.List == nil {
			return v.same(c.Body, other.Body)
		}
	}
	if len(c.Body) == 0 {
		return true
	}
	_, returns := c.Body[0].(*ast.ReturnStmt)
	next := v.after(s)
	return returns && next != nil && v.same(c.Body, []ast.Stmt{next})
}

func (v *finder) isInNeedless(n ast.Node) bool {
	return v.needless[n] || slices.ContainsFunc(v.parents, func(p ast.Node) bool { return v.needless[p] })
}

func (v *finder) same(a, b []ast.Stmt) bool {
	return slices.EqualFunc(a, b, func(a, b ast.Stmt) bool { return v.text(a) == v.text(b) })
}

// after returns the statement after one of the parents' statements, nil if there is none.
func (v *finder) after(s ast.Stmt) ast.Stmt {
	var list []ast.Stmt
	switch p := v.parents[slices.Index(v.parents, ast.Node(s))-1].(type) {
	case *ast.BlockStmt:
		list = p.List
	case *ast.CaseClause:
		list = p.Body
	}
	if i := slices.Index(list, s); i >= 0 && i+1 < len(list) {
		return list[i+1]
	}
	return nil
}

var swapped = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
}

func (v *finder) binary(b *ast.BinaryExpr) {
	with, ok := swapped[b.Op]
	if ok {
		v.add("swap the operator", b.OpPos, b.OpPos+token.Pos(len(b.Op.String())), with)
	}
}

// number changes an integer by one. A capacity that is given to make is only a hint, and a number beside iota sets no
// value by itself.
func (v *finder) number(l *ast.BasicLit) {
	if l.Kind != token.INT || v.besideIota() || v.isCapacity(l) {
		return
	}
	n, ok := constant.Int64Val(constant.MakeFromLiteral(l.Value, l.Kind, 0))
	if !ok {
		return
	}
	with := []string{fmt.Sprint(n + 1)}
	if n > 0 {
		with = append(with, fmt.Sprint(n-1))
	}
	v.add("change the number by one", l.Pos(), l.End(), with...)
}

func (v *finder) besideIota() bool {
	found := false
	for _, p := range v.parents {
		if spec, ok := p.(*ast.ValueSpec); ok {
			ast.Inspect(spec, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				found = found || ok && id.Name == "iota"
				return true
			})
		}
	}
	return found
}

func (v *finder) isCapacity(l *ast.BasicLit) bool {
	call, ok := v.parents[len(v.parents)-1].(*ast.CallExpr)
	if !ok || !v.isBuiltin(call, "make") {
		return false
	}
	_, isMap := v.source.info.TypeOf(call).Underlying().(*types.Map)
	return isMap || len(call.Args) == 3 && call.Args[2] == l
}

func (v *finder) isBuiltin(call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == name && v.source.info.Types[id].IsBuiltin()
}

func (v *finder) boolean(id *ast.Ident) {
	switch v.source.info.Uses[id] {
	case types.Universe.Lookup("true"):
		v.add("swap true and false", id.Pos(), id.End(), "false")
	case types.Universe.Lookup("false"):
		v.add("swap true and false", id.Pos(), id.End(), "true")
	}
}

// constant puts another constant of the same type, or another variable of a package that is used like one, in the place
// of the named one. Constants of the types that Go itself declares are of one kind if their names begin alike. Two constants
// of one value do the same.
func (v *finder) constant(id *ast.Ident) {
	object := v.source.info.Uses[id]
	if object == nil || object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
		return
	}
	var with []string
	for _, name := range object.Pkg().Scope().Names() {
		other := object.Pkg().Scope().Lookup(name)
		if other != object && alike(object, other) && (other.Exported() || object.Pkg().Path() == v.source.types.Path()) {
			with = append(with, name)
		}
	}
	v.add("swap the constant", id.Pos(), id.End(), with...)
}

func alike(a, b types.Object) bool {
	if !types.Identical(a.Type(), b.Type()) {
		return false
	}
	named, isNamed := a.Type().(*types.Named)
	switch a := a.(type) {
	case *types.Const:
		b, ok := b.(*types.Const)
		return ok && (isNamed || firstWord(a.Name()) == firstWord(b.Name())) && !constant.Compare(a.Val(), token.EQL, b.Val())
	case *types.Var:
		_, ok := b.(*types.Var)
		return ok && isNamed && named.Obj().Pkg() != nil
	}
	return false
}

// firstWord is "Reason" of "ReasonIdle".
func firstWord(name string) string {
	if i := strings.IndexFunc(name[1:], unicode.IsUpper); i >= 0 {
		return name[:i+1]
	}
	return name
}

// appended makes append forget the elements that were there. Where there cannot be any, there is no mutant.
func (v *finder) appended(call *ast.CallExpr) {
	if !v.isBuiltin(call, "append") || len(call.Args) < 2 {
		return
	}
	switch call.Args[0].(type) {
	case *ast.Ident, *ast.SelectorExpr:
		to := call.Args[0].End()
		v.add("forget what is appended to", to, to, "[:0:0]")
	}
}

// removeFrom removes the statements of a list that can be removed one by one.
func (v *finder) removeFrom(list []ast.Stmt) {
	for _, s := range list {
		operator := ""
		switch s := s.(type) {
		case *ast.ExprStmt:
			operator = "remove the call"
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				operator = "remove the assignment"
			}
		case *ast.IncDecStmt:
			operator = "remove the assignment"
		case *ast.DeferStmt:
			if !v.stopsTimer(s.Call) {
				operator = "remove the defer"
			}
		case *ast.ReturnStmt, *ast.BranchStmt:
			if v.isGuard() {
				operator = "remove the early end"
			}
		case *ast.SendStmt:
			operator = "remove the send"
		case *ast.GoStmt:
			operator = "remove the goroutine"
		}
		if operator != "" {
			v.add(operator, s.Pos(), s.End(), "")
		}
	}
}

// stopsTimer reports whether a call stops a timer. At a function's end that changes nothing: since Go 1.23 a timer that
// is not referred to is collected even if it was not stopped, and nothing reads its channel any more.
func (v *finder) stopsTimer(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Stop" {
		return false
	}
	t := v.source.info.TypeOf(method.X)
	return t != nil && t.String() == "*time.Timer"
}

// isGuard reports whether the statement list that is visited belongs to an if, or to a case.
func (v *finder) isGuard() bool {
	switch v.parents[len(v.parents)-1].(type) {
	case *ast.IfStmt, *ast.BlockStmt, *ast.SelectStmt:
		return true
	}
	return false
}
