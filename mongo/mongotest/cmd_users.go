package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/createUser/
//
// Users are known to every member at once. What a user may do is kept and shown, and not enforced.

func cmdCreateUser(x *exec) error {
	u := User{Name: string(x.command.first.Text()), Database: x.command.db}
	var roles []byte
	for i := range x.command.args {
		e := &x.command.args[i]
		switch string(e.Key) {
		case "pwd":
			u.Password = string(e.Text())
		case "roles":
			if roles = e.Array(); roles == nil {
				return fields.WrongType(x.command.name, "roles", e.Type, "array")
			}
		case "mechanisms":
			for _, m := range query.Elements(e.Array()) {
				u.Mechanisms = append(u.Mechanisms, string(m.Text()))
			}
		case "customData", "digestPassword", "authenticationRestrictions":
		default:
			return fields.Unknown(x.command.name, string(e.Key))
		}
	}
	if roles == nil {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'createUser.roles' is missing but a required field")
	}
	a, err := newAccount(u)
	if err != nil {
		return mongoerr.Errorf(mongoerr.BadValue, "%v", err)
	}
	a.roles = slices.Clone(roles)
	rs := x.conn.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.initiation != initiated {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	if rs.userLocked(a.db, a.name) != nil {
		return mongoerr.Errorf(51003, "User \"%s@%s\" already exists", a.name, a.db)
	}
	rs.users = append(rs.users, a)
	if rs.config.requireAuth {
		rs.guarded.Store(true)
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/dropUser/

func cmdDropUser(x *exec) error {
	name := string(x.command.first.Text())
	rs := x.conn.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	a := rs.userLocked(x.command.db, name)
	if a == nil {
		return mongoerr.Errorf(mongoerr.UserNotFound, "User '%s@%s' not found", name, x.command.db)
	}
	rs.users = slices.DeleteFunc(rs.users, func(other *account) bool { return other == a })
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/usersInfo/

func cmdUsersInfo(x *exec) error {
	wanted, err := x.wantedUsers()
	if err != nil {
		return err
	}
	rs := x.conn.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	at, dst := wire.BeginArray(x.result.out, "users")
	n := 0
	for _, a := range rs.users {
		if wanted(a) {
			dst = a.appendInfo(dst, wire.ArrayKey(n))
			n++
		}
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

// wantedUsers reads whom usersInfo asks for: 1 for the database's, a name, {user, db}, {forAllDBs: true}, or several.
func (x *exec) wantedUsers() (func(*account) bool, error) {
	if n, ok := x.command.first.Integer(); ok && n == 1 {
		return func(a *account) bool { return a.db == x.command.db }, nil
	}
	if x.command.first.IsDocument() && query.Lookup(x.command.first.Data, "forAllDBs").True() {
		return func(*account) bool { return true }, nil
	}
	list := []query.Value{x.command.first}
	if x.command.first.IsArray() {
		list = query.Elements(x.command.first.Data)
	}
	var names []string
	for _, v := range list {
		switch {
		case v.Type == bson.TypeString:
			names = append(names, x.command.db+"."+string(v.Text()))
		case v.IsDocument():
			user, db := query.Lookup(v.Data, "user"), query.Lookup(v.Data, "db")
			names = append(names, string(db.Text())+"."+string(user.Text()))
		default:
			return nil, mongoerr.Errorf(mongoerr.BadValue, "UserName must be either a string or an object")
		}
	}
	return func(a *account) bool { return slices.Contains(names, a.fullName()) }, nil
}

func (a *account) appendInfo(dst []byte, key string) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendString(dst, "_id", a.fullName())
	dst = wire.AppendBinary(dst, "userId", bson.TypeBinaryUUID, a.id[:])
	dst = wire.AppendString(dst, "user", a.name)
	dst = wire.AppendString(dst, "db", a.db)
	dst = a.appendRoles(dst, "roles")
	dst = wire.AppendStrings(dst, "mechanisms", a.mechanisms())
	return wire.EndDocument(dst, at)
}

func (a *account) appendRoles(dst []byte, key string) []byte {
	if a.roles != nil {
		return wire.AppendValue(dst, key, bson.TypeArray, a.roles)
	}
	at, dst := wire.BeginArray(dst, key)
	role, dst := wire.BeginEmbedded(dst, "0")
	dst = wire.AppendString(wire.AppendString(dst, "role", "root"), "db", "admin")
	return wire.EndDocument(wire.EndDocument(dst, role), at)
}

// https://www.mongodb.com/docs/manual/reference/command/connectionStatus/

func cmdConnectionStatus(x *exec) error {
	info, dst := wire.BeginEmbedded(x.result.out, "authInfo")
	users, dst := wire.BeginArray(dst, "authenticatedUsers")
	if x.conn.who != nil {
		at, d := wire.BeginEmbedded(dst, "0")
		dst = wire.EndDocument(wire.AppendString(wire.AppendString(d, "user", x.conn.who.name), "db", x.conn.who.db), at)
	}
	dst = wire.EndDocument(dst, users)
	if x.conn.who != nil {
		dst = x.conn.who.appendRoles(dst, "authenticatedUserRoles")
	} else {
		at, d := wire.BeginArray(dst, "authenticatedUserRoles")
		dst = wire.EndDocument(d, at)
	}
	x.result.out = wire.EndDocument(dst, info)
	return nil
}
