package backtrack

import (
	"strings"

	"github.com/dlclark/regexp2/v2/syntax"
)

// fixedLookbehinds returns an error if an alternative of a look-behind can have more than one length: PCRE has no such look-behind.
func fixedLookbehinds(pattern string, options syntax.RegexOptions) error {
	for at := 0; at < len(pattern); at = behind(pattern, at) {
		if !strings.HasPrefix(pattern[at:], "(?<=") && !strings.HasPrefix(pattern[at:], "(?<!") {
			continue
		}
		for _, branch := range branches(pattern[at+len("(?<="):]) {
			tree, err := parse(branch, options)
			if err != nil {
				continue // it has a back reference, or PCRE's text was found before
			}
			if _, ok := lengthOf(tree.Root); !ok {
				return notFixed
			}
		}
	}
	return nil
}

// branches returns the alternatives of a group, which the text begins behind the opening parenthesis of.
func branches(text string) []string {
	var list []string
	from, depth := 0, 0
	for at := 0; at < len(text); at = behind(text, at) {
		switch {
		case text[at] == '(':
			depth++
		case text[at] == ')' && depth == 0:
			return append(list, text[from:at])
		case text[at] == ')':
			depth--
		case text[at] == '|' && depth == 0:
			list = append(list, text[from:at])
			from = at + 1
		}
	}
	return list
}

// behind returns where what begins at a place of a pattern ends: an escape, a class, or a single byte.
func behind(pattern string, at int) int {
	switch pattern[at] {
	case '\\':
		return min(at+2, len(pattern))
	case '[':
		end := at + 1
		if end < len(pattern) && pattern[end] == '^' {
			end++
		}
		for first := true; end < len(pattern) && (first || pattern[end] != ']'); first = false {
			switch {
			case pattern[end] == '\\':
				end++
			case strings.HasPrefix(pattern[end:], "[:"):
				if n := strings.Index(pattern[end:], ":]"); n > 0 {
					end += n + 1
				}
			}
			end++
		}
		return min(end+1, len(pattern))
	}
	return at + 1
}

// lengthOf returns how many characters a node stands for, if that is always the same number.
func lengthOf(n *syntax.RegexNode) (int, bool) {
	switch n.T { //nolint:exhaustive // the kinds that are not here are no such nodes
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet:
		return 1, true
	case syntax.NtMulti:
		return len(n.Str), true
	case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop, syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy,
		syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
		return n.M, n.M == n.N
	case syntax.NtLoop, syntax.NtLazyloop:
		length, ok := lengthOf(n.Children[0])
		return n.M * length, ok && n.M == n.N
	case syntax.NtPosLook, syntax.NtNegLook:
		return 0, true
	case syntax.NtAlternate, syntax.NtBackRefCond:
		return sameLength(n.Children)
	case syntax.NtConcatenate, syntax.NtCapture, syntax.NtGroup, syntax.NtAtomic:
		total := 0
		for _, child := range n.Children {
			length, ok := lengthOf(child)
			if !ok {
				return 0, false
			}
			total += length
		}
		return total, true
	case syntax.NtRef:
		return 0, false
	}
	return 0, true
}

func sameLength(nodes []*syntax.RegexNode) (int, bool) {
	length, ok := lengthOf(nodes[0])
	for _, n := range nodes[1:] {
		other, fixed := lengthOf(n)
		ok = ok && fixed && other == length
	}
	return length, ok
}
