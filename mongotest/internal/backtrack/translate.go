package backtrack

import (
	"slices"
	"strconv"
	"strings"
)

// translate writes a pattern of PCRE in the syntax that is read: escapes that only PCRE has as their meaning. It finds what the library
// would understand otherwise.
func translate(pattern string) (string, error) {
	t := translation{pattern: pattern}
	for at := 0; at < len(pattern); {
		end, err := t.part(at)
		if err != nil {
			return "", err
		}
		at = end
	}
	for _, name := range t.asked {
		if !slices.Contains(t.names, name) {
			return "", noSuchGroup
		}
	}
	return t.out.String(), nil
}

type translation struct {
	pattern string
	out     strings.Builder
	groups  int // that were opened so far
	names   []string
	asked   []string // the names of groups that conditions ask for
}

// part translates what begins at a place, and returns where that ends.
func (t *translation) part(at int) (int, error) {
	end := behind(t.pattern, at)
	text := t.pattern[at:end]
	switch text[0] {
	case '\\':
		return t.escape(at)
	case '[':
		if err := checkClass(text); err != nil {
			return 0, err
		}
	case '{':
		if err := checkCount(t.pattern[at:]); err != nil {
			return 0, err
		}
	case '(':
		if end, ok := t.condition(at); ok {
			return end, nil
		}
		if err := t.opening(t.pattern[at:]); err != nil {
			return 0, err
		}
	}
	t.out.WriteString(text)
	return end, nil
}

// escapes are those that only PCRE has.
var escapes = map[byte]string{
	'z': `(?!(?s:.))`,
	'Z': `\Z`,
	'N': `[^\n]`,
	'h': `[\t \x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]`,
	'H': `[^\t \x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]`,
	'v': `[\n\x0B\f\r\x{85}\x{2028}\x{2029}]`,
	'V': `[^\n\x0B\f\r\x{85}\x{2028}\x{2029}]`,
	'R': `(?>\r\n|[\n\x0B\f\r\x{85}\x{2028}\x{2029}])`,
}

func (t *translation) escape(at int) (int, error) {
	rest := t.pattern[at+1:]
	switch {
	case rest == "":
		return 0, Fault("\\ at end of pattern")
	case rest[0] == 'Q':
		end := strings.Index(rest, `\E`)
		if end < 0 {
			t.out.WriteString(quoted(rest[1:]))
			return len(t.pattern), nil
		}
		t.out.WriteString(quoted(rest[1:end]))
		return at + 1 + end + len(`\E`), nil
	case rest[0] == 'g':
		return t.reference(at)
	case strings.IndexByte("uULlF", rest[0]) >= 0, strings.HasPrefix(rest, "N{") && !strings.HasPrefix(rest, "N{U+"):
		return 0, Fault(`PCRE2 does not support \F, \L, \l, \N{name}, \U, or \u`)
	case strings.IndexByte("KCXGoE", rest[0]) >= 0, strings.HasPrefix(rest, "N{"):
		return 0, ErrUnsupported
	case strings.IndexByte("ijmqyIJMOTYijq", rest[0]) >= 0:
		return 0, unknownEscape
	case escapes[rest[0]] != "":
		t.out.WriteString(escapes[rest[0]])
	case len(rest) > 1 && rest[1] == '{' && strings.IndexByte("xpPk", rest[0]) >= 0:
		argument, _, _ := strings.Cut(rest, "}")
		t.out.WriteString(t.pattern[at:min(at+1+len(argument)+1, len(t.pattern))])
		return min(at+1+len(argument)+1, len(t.pattern)), nil
	default:
		t.out.WriteString(t.pattern[at:behind(t.pattern, at)])
	}
	return behind(t.pattern, at), nil
}

// condition translates the begin of a condition that asks for a group by its name in brackets: the library has no brackets there.
func (t *translation) condition(at int) (int, bool) {
	rest := t.pattern[at:]
	for begin, end := range map[string]string{"(?(<": ">)", "(?('": "')"} {
		if name, ok := strings.CutPrefix(rest, begin); ok {
			if name, _, ok = strings.Cut(name, end); ok {
				t.asked = append(t.asked, name)
				t.out.WriteString("(?(" + name + ")")
				return at + len(begin) + len(name) + len(end), true
			}
		}
	}
	return 0, false
}

// checkCount refuses a quantifier with a number that PCRE has not.
func checkCount(text string) error {
	count, _, ok := strings.Cut(text[1:], "}")
	if !ok || strings.Trim(count, "0123456789,") != "" {
		return nil
	}
	for n := range strings.SplitSeq(count, ",") {
		if v, err := strconv.Atoi(n); n != "" && (err != nil || v > 65535) {
			return Fault("number too big in {} quantifier")
		}
	}
	return nil
}

// quoted is a text of which no character has a meaning.
func quoted(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && !isWord(byte(r)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// reference translates \g1, \g{1}, \g{-1} and \g{name}. With other brackets it calls a group, which is not supported.
func (t *translation) reference(at int) (int, error) {
	rest := t.pattern[at+len(`\g`):]
	var name string
	length := 0
	if strings.HasPrefix(rest, "{") {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return 0, ErrUnsupported
		}
		name, length = rest[1:end], end+1
	} else {
		for length < len(rest) && (rest[length] >= '0' && rest[length] <= '9' || length == 0 && rest[0] == '-') {
			length++
		}
		name = rest[:length]
	}
	if name == "" {
		return 0, ErrUnsupported
	}
	if n, err := strconv.Atoi(name); err == nil && n < 0 {
		if t.groups+n < 0 {
			return 0, noSuchGroup
		}
		name = strconv.Itoa(t.groups + n + 1)
	}
	t.out.WriteString(`\k<` + name + `>`)
	return at + len(`\g`) + length, nil
}

// opening looks at what begins with a parenthesis.
func (t *translation) opening(text string) error {
	if !strings.HasPrefix(text, "(?") {
		t.groups++
		if strings.HasPrefix(text, "(*") {
			return verb(text)
		}
		return nil
	}
	name, named := nameOf(text)
	switch {
	case named:
		return t.name(name)
	case len(text) == len("(?"):
		return Fault("missing closing parenthesis")
	case strings.HasPrefix(text, "(?(R"), strings.HasPrefix(text, "(?(DEFINE)"), strings.HasPrefix(text, "(?P"):
		if strings.HasPrefix(text, "(?P=") {
			return nil
		}
		return ErrUnsupported
	case strings.IndexByte("|&RC^J+0123456789", text[2]) >= 0, len(text) > 3 && text[2] == '-' && text[3] <= '9':
		return ErrUnsupported
	case strings.IndexByte("abcdefghjklopqrtuvwyzABDEFGHIKLMNOQSTUVWXYZ", text[2]) >= 0:
		return Fault("unrecognized character after (? or (?-")
	}
	return nil
}

// verbs are the names that PCRE knows behind "(*".
var verbs = strings.Fields("ACCEPT FAIL F COMMIT PRUNE SKIP THEN MARK UTF UCP CR LF CRLF ANYCRLF ANY NUL BSR_ANYCRLF BSR_UNICODE NO_AUTO_POSSESS NO_DOTSTAR_ANCHOR " +
	"NO_JIT NO_START_OPT NOTEMPTY NOTEMPTY_ATSTART LIMIT_DEPTH LIMIT_HEAP LIMIT_MATCH LIMIT_RECURSION pla plb nla nlb atomic sr asr napla naplb")

func verb(text string) error {
	name := strings.TrimLeft(text, "(*")
	if end := strings.IndexAny(name, ":=)"); end >= 0 {
		name = name[:end]
	}
	if name == "" || slices.Contains(verbs, name) {
		return ErrUnsupported
	}
	return Fault("(*VERB) not recognized or malformed")
}

// nameOf returns the text of a group's name, up to the end of the pattern if nothing ends it.
func nameOf(text string) (name string, named bool) {
	for _, begin := range []string{"(?P<", "(?<", "(?'"} {
		rest, ok := strings.CutPrefix(text, begin)
		if !ok || begin == "(?<" && (strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "!")) {
			continue
		}
		end := ">"
		if begin == "(?'" {
			end = "'"
		}
		if at := strings.Index(rest, end); at >= 0 {
			return rest[:at], true
		}
		return rest + "\x00", true // which is no name
	}
	return "", false
}

func (t *translation) name(name string) error {
	t.groups++
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return Fault("subpattern name must start with a non-digit")
	}
	if name == "" {
		return Fault("subpattern name expected")
	}
	for i := range len(name) {
		if name[i] < 0x80 && !isWord(name[i]) {
			return Fault("syntax error in subpattern name (missing terminator?)")
		}
	}
	if slices.Contains(t.names, name) {
		return Fault("two named subpatterns have the same name (PCRE2_DUPNAMES not set)")
	}
	t.names = append(t.names, name)
	return nil
}

var posixClasses = strings.Fields("alpha lower upper alnum ascii blank cntrl digit graph print punct space word xdigit")

// checkClass refuses what only the library has in a class: a class that is subtracted.
func checkClass(class string) error {
	if i := strings.Index(class, "[:"); i > 0 {
		name, _, ok := strings.Cut(class[i+2:], ":]")
		if ok && !slices.Contains(posixClasses, strings.TrimPrefix(name, "^")) {
			return Fault("unknown POSIX class name")
		}
	}
	switch {
	case strings.Contains(class, "[.") || strings.Contains(class, "[="):
		return Fault("POSIX collating elements are not supported")
	case strings.Contains(class, "-["):
		return ErrUnsupported
	}
	return nil
}
