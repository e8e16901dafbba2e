package differential

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// played is a server that sequences are asked.
type played struct {
	*server
	db string
}

// play asks a sequence and gives each reply to check. A sequence that fails without a reply is asked again once, from its
// first command: the real server may have been started anew.
func (p played) play(t *testing.T, s *sequence, check func(l *caseLine, reply string)) {
	t.Helper()
	replies, err := p.ask(s)
	if err != nil {
		replies, err = p.ask(s)
	}
	if err != nil {
		t.Errorf("%s: %s: %v", s.lines[0].about, s.lines[0].text, err)
		return
	}
	for i, l := range s.lines {
		check(l, replies[i])
	}
}

func (p played) ask(s *sequence) ([]string, error) {
	lines := slices.Concat(s.setup, s.lines)
	databases := []string{p.db}
	if slices.ContainsFunc(lines, func(l *caseLine) bool { return strings.Contains(l.text, "DB_other") }) {
		databases = append(databases, p.db+"_other")
	}
	for _, name := range databases {
		if _, err := p.run(bson.D{{Key: "dropDatabase", Value: 1}, {Key: "$db", Value: name}}); err != nil {
			return nil, err
		}
	}
	var replies []string
	for i, l := range lines {
		command, err := parseCommand(l.text, p.db)
		if err != nil {
			return nil, err
		}
		raw, err := p.run(command)
		if err != nil {
			return nil, err
		}
		if i >= len(s.setup) {
			replies = append(replies, oneLine(normalised(p.db, command, raw).text))
		} else if !succeeded(raw) {
			return nil, errors.New(l.text + ": " + raw.String())
		}
	}
	return replies, nil
}

// oneLine writes a reply so that it is one line of a file.
func oneLine(reply string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(strings.ToValidUTF8(reply, "?"))
}
