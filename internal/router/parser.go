package router

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// parser reads the messages of one client. It keeps what they have in common, so that to read a command allocates nothing.
type parser struct {
	command  command // the last one
	database string  // of the last one

	collection string // of the last one that a tracer was told of
}

// parse reads a message. The command is valid until the next one is read.
func (p *parser) parse(message []byte) (*command, error) {
	h, err := wire.ParseHeader(message)
	switch {
	case err != nil:
		return nil, err
	case h.OpCode != wire.OpMsg:
		return parseOld(message)
	}
	m, err := wire.ParseMsg(message)
	if err != nil {
		return nil, err
	}
	p.command = command{ClientMessage: wire.ClientMessage{Header: h, Flags: m.Flags, Body: m.Body, Sequences: m.Sequences}}
	return &p.command, p.readElements()
}

// forget lets go of the last message, whose memory may be large.
func (p *parser) forget() { p.command = command{} }

// readElements reads the name of the command and its fields.
func (p *parser) readElements() error {
	c := &p.command
	it := wire.Elements(c.Body)
	if !it.Next() {
		return fmt.Errorf("%w: a command without a name", wire.ErrMalformed)
	}
	c.Name = nameOf(it.Key)
	c.cursor, _ = it.Int64()
	for it.Next() {
		if string(it.Key) == "$db" {
			c.Database, c.databaseType = p.sameDatabase(it.Text()), it.Type
			continue
		}
		c.note(&it.Element)
	}
	return it.Err
}

// sameDatabase returns a text as a string: that of the last command if it is the same. What is no name is not kept: it may be as large as a message.
func (p *parser) sameDatabase(text []byte) string {
	if len(text) > longestName {
		return string(text)
	}
	if p.database != string(text) {
		p.database = string(text)
	}
	return p.database
}

// nameOf returns the name of a command as a string: one that is there already, if the router knows the command.
func nameOf(key []byte) string {
	if name, known := names[string(key)]; known {
		return name
	}
	return string(key)
}

// names are those of the commands that the router knows: of the two tables, and others that drivers send.
var names = namesOf(routes, "getMore", "killCursors")

func namesOf(routes map[string]route, others ...string) map[string]string {
	all := make(map[string]string)
	for name := range routes {
		all[name] = name
	}
	for _, name := range others {
		all[name] = name
	}
	return all
}
