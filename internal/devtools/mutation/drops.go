package main

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// The operators of this file leave something out of a statement that stays: what a test of the statement as a whole does not
// notice.

// force makes a condition hold always, or never; it is still computed. There are other mutants for a comparison for equality,
// and for one that never holds if it guards a single statement.
func (v *finder) force(s *ast.IfStmt) {
	if isEquality(s.Cond) {
		return
	}
	cond := v.text(s.Cond)
	with := []string{"(" + cond + ") || true"}
	if len(s.Body.List) > 1 || s.Else != nil {
		with = append(with, "("+cond+") && false")
	}
	v.add("force the condition", s.Cond.Pos(), s.Cond.End(), with...)
}

// operands leaves out an operand of "and" and of "or", and the second one of a sum or a difference of numbers.
func (v *finder) operands(b *ast.BinaryExpr) {
	if b.Op == token.LAND || b.Op == token.LOR {
		v.add("drop an operand", b.Pos(), b.End(), v.text(b.X), v.text(b.Y))
		return
	}
	t, ok := v.source.info.TypeOf(b).Underlying().(*types.Basic)
	if ok && t.Info()&types.IsNumeric != 0 && (b.Op == token.ADD || b.Op == token.SUB) {
		v.add("drop an operand", b.Pos(), b.End(), v.text(b.X))
	}
}

// pairs leaves out one of several assignments that stand in one statement.
func (v *finder) pairs(s *ast.AssignStmt) {
	if s.Tok != token.ASSIGN || len(s.Lhs) < 2 || len(s.Lhs) != len(s.Rhs) {
		return
	}
	for i := range s.Lhs {
		v.add("remove one of the assignments", s.Pos(), s.End(), v.without(s.Lhs, i)+" = "+v.without(s.Rhs, i))
	}
}

// without returns the text of a list without one of its elements.
func (v *finder) without(list []ast.Expr, i int) string {
	var texts []string
	for j, e := range list {
		if j != i {
			texts = append(texts, v.text(e))
		}
	}
	return strings.Join(texts, ", ")
}

// appends makes append leave out one of the elements that it adds. That nothing at all is added to a variable is another
// mutant already.
func (v *finder) appends(call *ast.CallExpr) {
	if !v.isBuiltin(call, "append") {
		return
	}
	if len(call.Args) == 2 {
		if to := v.text(call.Args[0]); !v.isAssignedTo(to) {
			v.add("append less", call.Pos(), call.End(), to)
		}
		return
	}
	for i := 1; i < len(call.Args); i++ {
		v.add("append less", call.Args[i-1].End(), call.Args[i].End(), "")
	}
}

// isAssignedTo reports whether the expression that is visited is assigned to a variable.
func (v *finder) isAssignedTo(variable string) bool {
	s, ok := v.parents[len(v.parents)-1].(*ast.AssignStmt)
	return ok && len(s.Lhs) == 1 && v.text(s.Lhs[0]) == variable
}

// clone replaces a copy by its original. A text cannot be changed, so that a copy of it makes no difference.
func (v *finder) clone(call *ast.CallExpr) {
	original := v.cloned(call)
	if original == nil {
		return
	}
	copied, from := v.source.info.TypeOf(call), v.source.info.TypeOf(original)
	if from != nil && types.Identical(copied, from) && !isText(copied) {
		v.add("do not clone", call.Pos(), call.End(), v.text(original))
	}
}

// cloned returns what slices.Clone(x), x.Clone() or append([]T(nil), x...) copies, or nil.
func (v *finder) cloned(call *ast.CallExpr) ast.Expr {
	if method, ok := call.Fun.(*ast.SelectorExpr); ok && strings.EqualFold(method.Sel.Name, "clone") {
		if len(call.Args) == 1 {
			return call.Args[0]
		}
		return method.X
	}
	if v.isBuiltin(call, "append") && call.Ellipsis.IsValid() {
		if to, ok := call.Args[0].(*ast.CallExpr); ok && len(to.Args) == 1 && v.source.info.Types[to.Args[0]].IsNil() {
			return call.Args[1]
		}
	}
	return nil
}

func isText(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// fields leaves out one of the fields that a struct is made with, unless it is zero anyway.
func (v *finder) fields(l *ast.CompositeLit) {
	if !isStruct(v.source.info.TypeOf(l)) {
		return
	}
	for i, e := range l.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok || v.isZero(field.Value) {
			continue
		}
		from, to := e.Pos(), e.End()
		if after := v.file.text[int(to)-v.base:]; after[0] == ',' {
			to += token.Pos(len(after) - len(bytes.TrimLeft(after, ", ")))
		} else if i > 0 {
			from = l.Elts[i-1].End()
		}
		v.add("drop a field", from, to, "")
	}
}

func isStruct(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element of a list of pointers is written without its type
		t = p.Elem()
	}
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// isZero reports whether an expression is the zero value of its type, as far as that can be seen.
func (v *finder) isZero(e ast.Expr) bool {
	known := v.source.info.Types[e]
	if known.IsNil() {
		return true
	}
	if known.Value == nil {
		return false
	}
	switch known.Value.Kind() {
	case constant.Bool:
		return !constant.BoolVal(known.Value)
	case constant.String:
		return constant.StringVal(known.Value) == ""
	case constant.Int, constant.Float:
		return constant.Sign(known.Value) == 0
	case constant.Unknown, constant.Complex:
	}
	return false
}
