package account

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Role is a role as a user has it. It is of a database.
type Role struct{ Name, DB string }

// ParseRoles reads an array of roles: documents {role, db}, or names of roles of a database.
func ParseRoles(array []byte, db string) ([]Role, error) {
	var list []Role
	for it := wire.Elements(array); it.Next(); {
		r, err := ParseRole(it.Type, it.Value, db)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// ParseRole reads a role: a document {role, db}, or the name of a role of a database.
func ParseRole(kind bson.Type, data []byte, db string) (Role, error) {
	v := bson.RawValue{Type: kind, Value: data}
	if name, ok := v.StringValueOK(); ok {
		return Role{name, db}, nil
	}
	if doc, ok := v.DocumentOK(); ok {
		return parseRole(doc)
	}
	return Role{}, mongoerr.Errorf(mongoerr.BadValue, "Role names must be either strings or objects")
}

func parseRole(doc []byte) (r Role, err error) {
	var hasName, hasDB bool
	for it := wire.Elements(doc); it.Next(); {
		switch string(it.Key) {
		case "role":
			r.Name, hasName = string(it.Text()), it.Type == bson.TypeString
		case "db":
			r.DB, hasDB = string(it.Text()), it.Type == bson.TypeString
		}
	}
	if !hasName {
		return r, mongoerr.Errorf(mongoerr.NoSuchKey, "Missing expected field \"role\"")
	}
	if !hasDB {
		return r, mongoerr.Errorf(mongoerr.NoSuchKey, "Missing expected field \"db\"")
	}
	return r, nil
}

// EncodeRoles writes roles as an account keeps them.
func EncodeRoles(list []Role) []byte {
	at, dst := wire.BeginDocument(nil)
	for i, r := range list {
		role, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		dst = wire.EndDocument(wire.AppendString(wire.AppendString(d, "role", r.Name), "db", r.DB), role)
	}
	return wire.EndDocument(dst, at)
}

// RoleList returns the roles that the account has.
func (a *Account) RoleList() ([]Role, error) {
	if a.Roles == nil {
		return []Role{{"root", "admin"}}, nil
	}
	return ParseRoles(a.Roles, a.DB)
}
