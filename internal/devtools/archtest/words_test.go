package archtest

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// word is a word of ours for which the field has a term. docs/GLOSSARY.md has the terms.
type word struct {
	pattern string   // of the whole identifier, or of a phrase in a comment or a document
	write   string   // the term
	in      []string // the folders that the rule is for; none: all
	except  []string // folders in which others chose the names, or the word means something else
	tests   bool     // tests may have it
}

// Identifiers that are not used. The texts of errors are exempt: they are whole sentences.
var identifiers = []word{
	{pattern: `[wW]hy([A-Z]\w*)?`, write: "StopReason, or the cause by its name", in: []string{"retry", "internal/mongo", "internal/couchbase"}},
	{pattern: `[eE]ffects?|Effect[A-Z]\w*`, write: "Idempotency", in: []string{"retry", "internal/mongo/operation", "internal/couchbase", "mongo", "couchbase"}},
	{pattern: `(?i)\w*canary\w*`, write: "half-open probe", except: []string{"couchbase", "interop/couchbase"}}, // gocb's options
	{pattern: `(?i)\w*honou?red\w*`, write: "supported"},
	{pattern: `(?i)notThereYet\w*`, write: "unsupported, NotSupported"},
	{pattern: `findings?|question`, write: "memo, memoKey", in: []string{"mongotest"}, except: []string{"mongotest/internal"}},
	{pattern: `takeBack\w*`, write: "rollback", in: []string{"mongotest"}},
	{pattern: `holdAtMost|mostPauses|lookEvery`, write: "maxLockHold, maxYields, pollInterval"},
	{pattern: `mayGoOn`, write: "checkInterrupt"},
	{
		pattern: `(?i)\w*(mutant|defect)\w*`, write: "an edit of internal/devtools/mutation: the product has no deliberate defect",
		except: []string{"internal/devtools"}, tests: true,
	},
	{pattern: `rights|dealing`, write: "privileges, busy", in: []string{"mongotest"}, except: []string{"mongotest/internal"}},
}

// Phrases that are not used in comments and documents.
var phrases = []word{
	{pattern: `in the place of`, write: "instead of"},
	{pattern: `(command|message|event|entry|cursor|one) in hand`, write: "current"},
	{pattern: `is no (UUID|URI|URL|JSON|HTTP|BSON|TLS)\b`, write: "is not a ..."},
	{pattern: `fallen silent`, write: "stopped responding"},
	{pattern: `[Tt]he way of (one|an?|each) (operation|request|command|message)`, write: "the lifecycle of"},
	{pattern: `[Hh]onoured`, write: "supported"},
	{pattern: `\b(the|no|a|own|another) (Why|Effect)\b`, write: "stop reason, idempotency", except: []string{"internal/cli"}},
	{pattern: `[Cc]anar(y|ies)`, write: "half-open probe", except: []string{"couchbase", "interop/couchbase"}},
}

// concerns reports whether a rule is for a file.
func (w *word) concerns(file string) bool {
	if w.tests && strings.HasSuffix(file, "_test.go") {
		return false
	}
	return (len(w.in) == 0 || within(file, w.in)) && !within(file, w.except)
}

// compiled are words with their patterns.
type compiled struct {
	words []word
	each  []*regexp.Regexp // of the words
	any   *regexp.Regexp   // all of them: few texts match, and one look is enough for the others
}

func compile(words []word, whole bool) compiled {
	c := compiled{words: words}
	var all []string
	for _, w := range words {
		pattern := `(?:` + w.pattern + `)`
		if whole {
			pattern = `^` + pattern + `$`
		}
		all = append(all, pattern)
		c.each = append(c.each, regexp.MustCompile(pattern))
	}
	c.any = regexp.MustCompile(strings.Join(all, "|"))
	return c
}

// found returns what stands in a text that a rule replaces.
func (c *compiled) found(file, text string) (all []string) {
	if !c.any.MatchString(text) {
		return nil
	}
	for i := range c.words {
		if s := c.each[i].FindString(text); s != "" && c.words[i].concerns(file) {
			all = append(all, s+": write "+c.words[i].write)
		}
	}
	return all
}

// inGo returns what stands in the identifiers and the comments of a Go file.
func inGo(names, texts *compiled, file string, source []byte) (all []string) {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile(file, -1, len(source)), source, nil, scanner.ScanComments)
	seen := make(map[string]bool)
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return all
		case tok == token.COMMENT && !strings.HasPrefix(text, "//nolint"):
			all = append(all, texts.found(file, text)...)
		case tok == token.IDENT && !seen[text]:
			seen[text] = true
			all = append(all, names.found(file, text)...)
		}
	}
}

func TestTheFieldsWordsAreUsed(t *testing.T) {
	const root = "../../.."
	names, texts := compile(identifiers, true), compile(phrases, false)
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || d.Name() == "CHANGELOG.md" || d.Name() == "GLOSSARY.md" || d.Name() == "words_test.go":
			return nil
		}
		file, _ := filepath.Rel(root, path)
		ext := filepath.Ext(path)
		if ext != ".go" && ext != ".md" {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		var all []string
		if file = filepath.ToSlash(file); ext == ".go" {
			all = inGo(&names, &texts, file, source)
		} else {
			all = texts.found(file, string(source))
		}
		for _, s := range all {
			t.Errorf("%s: %s", file, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 1000 {
		t.Errorf("only %d files were found", files)
	}
}

func TestWhatIsNoWordOfTheField(t *testing.T) {
	names, texts := compile(identifiers, true), compile(phrases, false)
	for _, c := range []struct {
		file, source string
		want         int
	}{
		{"retry/a.go", "package retry\n\nvar why, WhyRetried, Effect, canary = 1, 2, 3, 4", 4},
		{"internal/cli/a.go", "package cli\n\nvar why, Effect = 1, 2", 0},
		{"couchbase/a.go", "package couchbase\n\nvar CanaryTimeout = 1", 0},
		{"mongotest/a.go", "package mongotest\n\n// puts one in the place of another\nvar rights = \"the canary in hand\"", 2},
		{"mongotest/internal/a.go", "package a\n\nvar rights, findings = 1, 2", 0},
		{"mongo/a.go", "package mongo\n\nvar cfg.Mutant, hasDefect = 1, 2", 2},
		{"mongo/a_test.go", "package mongo\n\nvar mutants = 1", 0},
		{"mongo/a.go", "package mongo\n\nvar reason, whyte = `in the place of`, 1", 0},
	} {
		if got := inGo(&names, &texts, c.file, []byte(c.source)); len(got) != c.want {
			t.Errorf("%q: %q, want %d", c.source, got, c.want)
		}
	}
}
