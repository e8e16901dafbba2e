package couchbasetest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// part is what a part of a sub-document command may have. kv_engine has these rules in the traits of its sub-document commands.
type part struct {
	flags memd.SpecFlags // those that it may have
	doc   memd.DocFlags  // those that the whole command may have
	value bool           // it has a value
	root  bool           // its path may be empty
	whole bool           // it is about the whole document: it has no path
	xattr bool           // it is about an extended attribute only
}

const (
	reading   = memd.DocAccessDeleted | memd.DocReplicaRead
	onDeleted = memd.DocAccessDeleted | memd.DocRevive
	creating  = onDeleted | memd.DocUpsert | memd.DocInsert | memd.DocCreateAsDeleted
)

var lookupParts = map[memd.Opcode]part{
	memd.OpGet:            {doc: reading, root: true, whole: true},
	memd.OpSubdocGet:      {flags: memd.SpecXattr | memd.SpecBinaryValue, doc: reading},
	memd.OpSubdocExists:   {flags: memd.SpecXattr, doc: reading},
	memd.OpSubdocGetCount: {flags: memd.SpecXattr, doc: reading, root: true},
}

var mutationParts = map[memd.Opcode]part{
	memd.OpSet:                  {doc: memd.DocUpsert | memd.DocInsert, value: true, root: true, whole: true},
	memd.OpDelete:               {doc: onDeleted, root: true, whole: true},
	memd.OpSubdocDictAdd:        {flags: ofMembers, doc: creating, value: true},
	memd.OpSubdocDictSet:        {flags: ofMembers, doc: creating, value: true},
	memd.OpSubdocDelete:         {flags: memd.SpecXattr, doc: onDeleted},
	memd.OpSubdocReplace:        {flags: ofMembers &^ memd.SpecCreatePath, doc: onDeleted | memd.DocInsert, value: true},
	memd.OpSubdocArrayPushLast:  {flags: ofArrays, doc: creating, value: true, root: true},
	memd.OpSubdocArrayPushFirst: {flags: ofArrays, doc: creating, value: true, root: true},
	memd.OpSubdocArrayInsert:    {flags: ofArrays &^ memd.SpecCreatePath, doc: creating &^ memd.DocUpsert, value: true},
	memd.OpSubdocArrayAddUnique: {flags: ofArrays &^ memd.SpecExpandMacros, doc: creating, value: true, root: true},
	memd.OpSubdocCounter:        {flags: ofArrays &^ memd.SpecExpandMacros, doc: creating, value: true},
	memd.OpSubdocReplaceBody:    {flags: memd.SpecXattr | memd.SpecBinaryValue, doc: onDeleted, xattr: true},
}

const (
	ofArrays  = memd.SpecCreatePath | memd.SpecXattr | memd.SpecExpandMacros
	ofMembers = ofArrays | memd.SpecBinaryValue
)

// readParts reads the parts of a sub-document command, and returns the reply that refuses them, nil if they are as the rules say.
func (x *exec) readParts(cut func([]byte) (memd.Spec, []byte, error), rules map[memd.Opcode]part, doc memd.DocFlags) ([]memd.Spec, *Reply) {
	var specs []memd.Spec
	for value := x.value; len(value) > 0; {
		s, others, err := cut(value)
		switch {
		case len(specs) == memd.MaxSpecs:
			return nil, explained(memd.StatusBadCombination, fmt.Sprintf("there are more than %d parts", memd.MaxSpecs))
		case err != nil:
			return nil, refusal(memd.StatusInvalidArguments)
		}
		if reply := x.checkPart(s, rules, doc); reply != nil {
			return nil, reply
		}
		if status := x.checkOrder(specs, s); status != memd.StatusSuccess {
			return nil, refusal(status)
		}
		specs, value = append(specs, s), others
	}
	if specs == nil {
		return nil, explained(memd.StatusBadCombination, "there are no parts")
	}
	return specs, nil
}

// checkPart returns the reply that refuses one part, nil if it is as the rules say.
func (x *exec) checkPart(s memd.Spec, rules map[memd.Opcode]part, doc memd.DocFlags) *Reply {
	p := x.cluster.profile
	rule, known := rules[s.Op]
	if !known || s.Op == memd.OpSubdocReplaceBody && !p.atLeast(7, 1) {
		return explained(memd.StatusBadCombination, fmt.Sprintf("%v is not a part of %v", s.Op, x.p.Opcode))
	}
	if !p.atLeast(8, 0) {
		rule.flags &^= memd.SpecBinaryValue
	}
	if why := rule.check(s, doc); why != "" {
		return explained(memd.StatusInvalidArguments, fmt.Sprintf("%v: %s", s.Op, why))
	}
	if status := x.checkXattr(s); status != memd.StatusSuccess {
		return refusal(status)
	}
	return nil
}

// check returns why the rule refuses a part, "" if it does not.
func (r part) check(s memd.Spec, doc memd.DocFlags) string {
	isXattr := s.Flags&memd.SpecXattr != 0
	switch {
	case s.Flags&^r.flags != 0:
		return fmt.Sprintf("it cannot have the flags %#x", byte(s.Flags))
	case r.xattr && !isXattr:
		return "it must be about an extended attribute"
	case doc&^r.doc != 0:
		return fmt.Sprintf("the command cannot have the document flags %#x with it", byte(doc))
	case len(s.Path) > memd.MaxPathLength:
		return fmt.Sprintf("its path has %d bytes; there are at most %d", len(s.Path), memd.MaxPathLength)
	case r.whole && len(s.Path) > 0:
		return "it has no path"
	case !r.root && !isXattr && len(s.Path) == 0:
		return "it needs a path"
	case r.value != (len(s.Value) > 0):
		return "it has a value and needs none, or it lacks one"
	}
	return ""
}

// checkXattr checks what a part says of an extended attribute.
func (x *exec) checkXattr(s memd.Spec) memd.Status {
	const macros, binary = memd.SpecExpandMacros, memd.SpecBinaryValue
	if s.Flags&memd.SpecXattr == 0 || s.Flags&(macros|binary) == macros|binary {
		if s.Flags&(macros|binary) != 0 {
			return memd.StatusXattrFlagCombination
		}
		return memd.StatusSuccess
	}
	_, changes := mutationParts[s.Op]
	switch name, ok := xattrName(s.Path); {
	case !ok:
		return memd.StatusXattrInvalid
	case name[0] == '$' && changes:
		return memd.StatusXattrCannotModify
	case s.Flags&macros != 0 && !isMacro(s.Value):
		return memd.StatusXattrUnknownMacro
	}
	return memd.StatusSuccess
}

// xattrName returns the name of the extended attribute in which a path begins, by the rules of kv_engine's docs of extended attributes.
func xattrName(path []byte) (name string, ok bool) {
	name = string(path)
	if end := strings.IndexAny(name, ".["); end >= 0 {
		name = name[:end]
	}
	switch {
	case name == "", len(name) > 15, name == "_", name == "$", !utf8.Valid(path), slices.Contains(path, 0):
		return "", false
	}
	const marks = "!\"#%&'()*+,-/:;<=>?@\\]^`{|}~\x7f"
	return name, name[0] >= ' ' && !strings.Contains(marks, name[:1])
}

// checkOrder checks that a part may follow those before it: parts about extended attributes come first, and nothing else about the value is
// done in a command that deletes the document.
func (x *exec) checkOrder(before []memd.Spec, s memd.Spec) memd.Status {
	isXattr := s.Flags&memd.SpecXattr != 0
	if len(before) > 0 && before[len(before)-1].Flags&memd.SpecXattr == 0 {
		switch {
		case before[len(before)-1].Op == memd.OpDelete, s.Op == memd.OpDelete:
			return memd.StatusBadCombination
		case isXattr:
			return memd.StatusXattrOrder
		}
	}
	if isXattr && !x.cluster.profile.atLeast(7, 6) {
		return oneXattr(append(slices.Clip(before), s))
	}
	return memd.StatusSuccess
}

// oneXattr checks that all parts are about one extended attribute besides the virtual ones.
func oneXattr(specs []memd.Spec) memd.Status {
	first := ""
	for _, s := range specs {
		name, _ := xattrName(s.Path)
		switch {
		case name[0] == '$':
		case first != "" && name != first:
			return memd.StatusXattrKeyCombination
		default:
			first = name
		}
	}
	return memd.StatusSuccess
}
