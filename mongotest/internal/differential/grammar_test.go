package differential

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// grammar is what random commands are made of. The files of testdata/grammar hold its symbols: a line with a name and a
// colon, then one alternative a line, with "3*" in front if it is to be chosen three times as often. A name in <> stands
// for an alternative of that symbol, wherever in the text it is.
type grammar map[string]*symbol

type symbol struct {
	name         string
	alternatives []*alternative
	height       int // how many symbols deep its least alternative is
}

type alternative struct {
	weight int
	names  []string // of the operators and the command in it, behind the name of the file: filters$eq, commands find
	parts  []string // text, symbol, text, symbol, ..., text
	height int
}

var (
	weighted    = regexp.MustCompile(`^(\d+)\* `)
	operatorIn  = regexp.MustCompile(`"(\$[a-zA-Z]+)"`)
	commandIn   = regexp.MustCompile(`^(?:\d+\* )?\{"([a-zA-Z]{4,})"`)
	placeholder = regexp.MustCompile(`<([a-z-]+)>`)
)

func readGrammar(t testing.TB) grammar {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*grammarFolder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", *grammarFolder, len(files), err)
	}
	g := make(grammar)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.read(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	if err := g.measure(); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g grammar) read(file, text string) error {
	var s *symbol
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		name, isName := strings.CutSuffix(line, ":")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ' && isName && g[name] == nil:
			s = &symbol{name: name}
			g[name] = s
		case line[0] == ' ' && s != nil:
			s.alternatives = append(s.alternatives, newAlternative(file, strings.TrimSpace(line)))
		default:
			return fmt.Errorf("not understood: %s", line)
		}
	}
	return nil
}

func newAlternative(file, text string) *alternative {
	a := &alternative{weight: 1}
	for _, m := range operatorIn.FindAllStringSubmatch(text, -1) {
		a.names = append(a.names, file+m[1])
	}
	if m := commandIn.FindStringSubmatch(text); m != nil && file == "commands" {
		a.names = append(a.names, file+" "+m[1])
	}
	if m := weighted.FindStringSubmatch(text); m != nil {
		a.weight, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		a.parts = append(a.parts, text[at:m[0]], text[m[2]:m[3]])
		at = m[1]
	}
	a.parts = append(a.parts, text[at:])
	return a
}

// symbols are those that the alternative refers to.
func (a *alternative) symbols() []string {
	var names []string
	for i := 1; i < len(a.parts); i += 2 {
		names = append(names, a.parts[i])
	}
	return names
}

// measure finds the heights, from the least on, and the rules that have none.
func (g grammar) measure() error {
	for changed := true; changed; {
		changed = false
		for _, s := range g {
			for _, a := range s.alternatives {
				if a.height == 0 && g.measureOne(s, a) {
					changed = true
				}
			}
		}
	}
	for _, s := range g {
		for _, a := range s.alternatives {
			if a.height == 0 {
				return fmt.Errorf("%s: no end to %q", s.name, a.parts)
			}
		}
	}
	return nil
}

func (g grammar) measureOne(s *symbol, a *alternative) bool {
	height := 1
	for _, name := range a.symbols() {
		if g[name] == nil || g[name].height == 0 {
			return false
		}
		height = max(height, g[name].height+1)
	}
	a.height = height
	if s.height == 0 || height < s.height {
		s.height = height
	}
	return true
}

// source makes texts of a grammar.
type source struct {
	grammar
	*rand.Rand
	names []string // of the alternatives of the text that is being made
}

func newSource(g grammar, seed, stream uint64) *source {
	return &source{grammar: g, Rand: rand.New(rand.NewPCG(seed, stream))}
}

// statement is the text of a command, with the operators in it.
type statement struct {
	text  string
	names []string
}

// statement returns a random text of a symbol, about as deep as it is told, and as deep as it must be.
func (s *source) statement(name string, depth int) statement {
	s.names = nil
	var b strings.Builder
	s.write(&b, s.grammar[name], depth)
	return statement{b.String(), s.names}
}

func (s *source) write(b *strings.Builder, sym *symbol, depth int) {
	a := s.pick(sym, max(depth, sym.height))
	s.names = append(s.names, a.names...)
	for i, part := range a.parts {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		s.write(b, s.grammar[part], depth-1)
	}
}

// pick chooses an alternative that is not too deep.
func (s *source) pick(sym *symbol, depth int) *alternative {
	sum := 0
	for _, a := range sym.alternatives {
		if a.height <= depth {
			sum += a.weight
		}
	}
	n := s.IntN(sum)
	i := slices.IndexFunc(sym.alternatives, func(a *alternative) bool {
		if a.height <= depth {
			n -= a.weight
		}
		return n < 0
	})
	return sym.alternatives[i]
}
