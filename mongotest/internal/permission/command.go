// Package permission knows what a user must be allowed to do so that a command may run.
package permission

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Command is a command, and who runs it.
type Command struct {
	Name, DB string
	Body     []byte
	// Documents returns the documents of a field, which may have come beside the body.
	Documents func(field string) [][]byte

	User, UserDB string
	Roles        []account.Role // of the user, with those that they inherit
	Privileges   []account.Privilege
}

// first is the value behind the command's name.
func (c *Command) first() query.Value {
	it := wire.Elements(c.Body)
	if !it.Next() {
		return query.Value{}
	}
	return query.Of(it.Element)
}

func (c *Command) arg(name string) query.Value { return query.Lookup(c.Body, name) }

func (c *Command) allows(on account.Resource, actions ...string) bool {
	return account.Allows(c.Privileges, on, actions...)
}

// named is the collection that the command names, or its database.
func (c *Command) named() account.Resource {
	r := account.Resource{DB: c.DB}
	if first := c.first(); first.Type == bson.TypeString {
		r.Collection = string(first.Text())
	}
	return r
}
