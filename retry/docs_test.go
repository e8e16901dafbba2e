package retry

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const engineDocs = "../docs/ENGINE.md"

var update = flag.Bool("update", false, "rewrite what is generated in docs/ENGINE.md")

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// tableUnder returns the first table after a heading of a document, its header row first, without the separator.
func tableUnder(t *testing.T, document, heading string) [][]string {
	t.Helper()
	_, after, found := strings.Cut(document, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the document has no heading %q", heading)
	}
	var rows [][]string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || len(rows) > 0 && !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") {
			rows = append(rows, cells(line))
		}
	}
	if len(rows) < 2 {
		t.Fatalf("there is no table under %q", heading)
	}
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			t.Fatalf("under %q the row %q has not the columns %q", heading, row, rows[0])
		}
	}
	return rows
}

func cells(line string) []string {
	row := strings.Split(strings.Trim(line, "|"), "|")
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	return row
}

// declared is a package variable that holds a reason.
type declared struct {
	in, variable, name, doc string
}

// declaredReasons finds every variable that holds a reason in the source of this package and of those of the databases.
func declaredReasons(t *testing.T) []declared {
	t.Helper()
	var all []declared
	for _, folder := range []string{".", "couchbasereason", "mongoreason"} {
		all = append(all, declaredReasonsIn(t, folder)...)
	}
	return all
}

func declaredReasonsIn(t *testing.T, folder string) []declared {
	t.Helper()
	var all []declared
	for _, file := range sourceFiles(t, folder) {
		for _, d := range file.Decls {
			general, ok := d.(*ast.GenDecl)
			if !ok || general.Tok != token.VAR {
				continue
			}
			for _, s := range general.Specs {
				spec := s.(*ast.ValueSpec)
				doc := cmp.Or(spec.Doc.Text(), general.Doc.Text())
				for i, value := range spec.Values {
					if name, ok := madeReason(t, value); ok {
						all = append(all, declared{file.Name.Name, spec.Names[i].Name, name, doc})
					}
				}
			}
		}
	}
	return all
}

func sourceFiles(t *testing.T, folder string) []*ast.File {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	fset := token.NewFileSet()
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(folder, e.Name()), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// madeReason returns the name of the reason that an expression makes: NewReason(...) or Reason{}.
func madeReason(t *testing.T, e ast.Expr) (name string, ok bool) {
	t.Helper()
	switch e := e.(type) {
	case *ast.CallExpr:
		if !isNewReason(e.Fun) {
			return "", false
		}
		name, err := strconv.Unquote(e.Args[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		return name, true
	case *ast.CompositeLit:
		f, is := e.Type.(*ast.Ident)
		return "UNKNOWN", is && f.Name == "Reason"
	}
	return "", false
}

// isNewReason reports whether an expression is NewReason, in this package or another.
func isNewReason(e ast.Expr) bool {
	if selector, ok := e.(*ast.SelectorExpr); ok {
		e = selector.Sel
	}
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "NewReason"
}

// reasonsTable returns the table of all reasons, made from their flags and from the comments on their variables.
func reasonsTable(t *testing.T) string {
	t.Helper()
	byName := map[string]declared{}
	for _, d := range declaredReasons(t) {
		byName[d.name] = d
	}
	yes := map[bool]string{true: "yes", false: "no"}
	var b strings.Builder
	b.WriteString("| reason | in Go | not idempotent too | always | raised when |\n|---|---|---|---|---|\n")
	for _, r := range KnownReasons() {
		d := byName[r.String()]
		if d.doc == "" {
			t.Errorf("%v has no comment", r)
		}
		fmt.Fprintf(&b, "| %v | `%s.%s` | %s | %s | %s |\n", r, d.in, d.variable, yes[r.AllowsNonIdempotentRetry()], yes[r.AlwaysRetry()],
			sentence(d))
	}
	return b.String()
}

// sentence returns the first sentence of a variable's comment, without the name and without links.
func sentence(d declared) string {
	text := strings.Join(strings.Fields(d.doc), " ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, d.variable+": "), d.variable+" is the reason of ")
	text, _, _ = strings.Cut(text+" ", ". ")
	return strings.NewReplacer("[", "`", "]", "`", "|", `\|`).Replace(text)
}

func TestTheDocumentListsTheReasons(t *testing.T) {
	const begin, end = "<!-- reasons: begin -->\n", "<!-- reasons: end -->"
	document := readFile(t, engineDocs)
	before, from, found := strings.Cut(document, begin)
	old, after, closed := strings.Cut(from, end)
	if !found || !closed {
		t.Fatalf("%s has no markers for the reasons", engineDocs)
	}
	table := reasonsTable(t)
	if *update {
		if err := os.WriteFile(engineDocs, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != table {
		t.Errorf("the reasons in %s are not those of the code; `go test ./retry -run TestTheDocument -update` writes:\n%s", engineDocs, table)
	}
}

func TestTheDocumentListsTheClasses(t *testing.T) {
	classes := map[string]Class{
		"`ClassUnknown`": ClassUnknown, "`ClassPermanent`": ClassPermanent, "`ClassTemporary`": ClassTemporary,
		"`ClassNotSent`": ClassNotSent, "`ClassNoAnswer`": ClassNoAnswer,
	}
	rows := tableUnder(t, readFile(t, engineDocs), "## The classes of `Run`")[1:]
	if len(rows) != len(classes) {
		t.Errorf("the table has %d classes, want %d", len(rows), len(classes))
	}
	for _, row := range rows {
		class, ok := classes[row[0]]
		if !ok {
			t.Fatalf("the table has %s, which this test does not know", row[0])
		}
		if f := class.failure(errBroken); row[1] != f.Stage.String() || row[2] != f.Reason.String() {
			t.Errorf("%s is %q, %q in the table; want %v, %v", row[0], row[1], row[2], f.Stage, f.Reason)
		}
	}
}
