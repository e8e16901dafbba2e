package httpapi

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// command is what a request asks the query service to do with a statement.
type command struct {
	kind    commandKind
	name    string // of the prepared statement
	problem *Problem
}

type commandKind int

const (
	direct commandKind = iota
	prepare
	executePrepared
)

// readStatement finds the statement of a request to the query or analytics service.
func (s *Services) readStatement(r *Request) {
	text := trimStatement(r.Field("statement"))
	r.Statement = text
	if r.Service != clustermap.Query || r.Fields == nil {
		return
	}
	word, rest := firstWord(text)
	switch {
	case r.Fields["prepared"] != nil:
		r.command.kind = executePrepared
		if json.Unmarshal(r.Fields["prepared"], &r.command.name) != nil || r.command.name == "" {
			r.command.problem = &Problem{Code: 4050, Message: "Unrecognizable prepared statement: it has no name"}
			return
		}
	case strings.EqualFold(word, "PREPARE"):
		r.command.kind = prepare
		r.command.name, r.Statement = splitPrepare(rest)
		r.Preparing = !r.flag("auto_execute", false)
		return
	case strings.EqualFold(word, "EXECUTE"):
		r.command.kind = executePrepared
		r.command.name, _ = nameOf(rest)
	default:
		return
	}
	known, problem := s.prepared.find(r, r.command.name)
	if problem != nil {
		r.command.problem, r.Statement = problem, ""
		return
	}
	r.Statement = known.statement
}

// splitPrepare splits what follows PREPARE: [FORCE] [name FROM|AS] statement. A word that begins a statement is not a name, unless it
// is quoted: PREPARE DELETE FROM b has none.
func splitPrepare(text string) (name, statement string) {
	if word, rest := firstWord(text); strings.EqualFold(word, "FORCE") {
		text = rest
	}
	if writes(text) {
		return "", trimStatement(text)
	}
	name, rest := nameOf(text)
	if word, statement := firstWord(rest); strings.EqualFold(word, "FROM") || strings.EqualFold(word, "AS") {
		return name, trimStatement(statement)
	}
	return "", trimStatement(text)
}

// firstWord splits a text after its first word.
func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, " \t\r\n(")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimSpace(text[end:])
}

// nameOf splits a text after its first name, which may be quoted.
func nameOf(text string) (name, rest string) {
	text = strings.TrimSpace(text)
	if text == "" || !strings.ContainsRune("`\"'", rune(text[0])) {
		return firstWord(text)
	}
	if end := strings.IndexByte(text[1:], text[0]); end >= 0 {
		return text[1 : end+1], strings.TrimSpace(text[end+2:])
	}
	return text, ""
}

// writing is the first words of statements that change something.
var writing = map[string]bool{
	"INSERT": true, "UPSERT": true, "UPDATE": true, "DELETE": true, "MERGE": true, "CREATE": true, "DROP": true, "ALTER": true,
	"BUILD": true, "GRANT": true, "REVOKE": true, "TRUNCATE": true, "FLUSH": true, "SAVEPOINT": true,
}

// writes reports whether a statement changes something.
func writes(statement string) bool {
	word, _ := firstWord(statement)
	return writing[strings.ToUpper(word)]
}

// argument returns a positional or a named parameter of a request. The first position is 0.
func (r *Request) argument(position int, name string) (json.RawMessage, bool) {
	if name != "" {
		value, ok := r.Fields["$"+name]
		return value, ok
	}
	var args []json.RawMessage
	if json.Unmarshal(r.Fields["args"], &args) != nil || position >= len(args) {
		return nil, false
	}
	return args[position], true
}
