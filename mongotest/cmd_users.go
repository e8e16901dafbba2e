package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/createUser/
//
// Users are known to every member at once.

func cmdCreateUser(x *exec) error {
	u, roles, err := x.user()
	if err != nil {
		return err
	}
	if roles == nil {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'createUser.roles' is missing but a required field")
	}
	a, err := account.New(u.Database, u.Name, u.Password, u.Mechanisms)
	if err != nil {
		return mongoerr.Errorf(mongoerr.BadValue, "%v", err)
	}
	a.Roles = roles
	rs := x.conn.deployment
	rs.set.Lock()
	defer rs.set.Unlock()
	if rs.set.Initiation != replica.Initiated {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	if rs.userLocked(a.DB, a.Name) != nil {
		return mongoerr.Errorf(51003, "User \"%s@%s\" already exists", a.Name, a.DB)
	}
	rs.users = append(rs.users, a)
	rs.accountsChanged.Add(1)
	if rs.config.requireAuth {
		rs.guarded.Store(true)
	}
	return nil
}

// checkRoles refuses roles that there are not.
func (x *exec) checkRoles(list []account.Role) error {
	x.conn.set.Lock()
	defer x.conn.set.Unlock()
	return x.conn.deployment.roles.Check(list)
}

// user returns the user that a command describes. roles is nil if the command has none.
func (x *exec) user() (u User, roles []byte, err error) {
	u = User{Name: string(x.command.first.Text()), Database: x.command.db}
	for i := range x.command.args {
		e := &x.command.args[i]
		switch string(e.Key) {
		case "pwd":
			u.Password = string(e.Text())
		case "roles":
			if roles = e.Array(); roles == nil {
				return u, nil, fields.WrongType(x.command.name, "roles", e.Type, "array")
			}
			list, err := account.ParseRoles(roles, x.command.db)
			if err == nil {
				err = x.checkRoles(list)
			}
			if err != nil {
				return u, nil, err
			}
			roles = account.EncodeRoles(list)
		case "mechanisms":
			for _, m := range query.Elements(e.Array()) {
				u.Mechanisms = append(u.Mechanisms, string(m.Text()))
			}
		case "customData", "digestPassword", "authenticationRestrictions":
		default:
			return u, nil, fields.Unknown(x.command.name, string(e.Key))
		}
	}
	return u, roles, nil
}

// https://www.mongodb.com/docs/manual/reference/command/updateUser/

func cmdUpdateUser(x *exec) error {
	u, roles, err := x.user()
	if err != nil {
		return err
	}
	if len(x.command.args) == 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "Must specify at least one field to update in updateUser")
	}
	return x.changeUser(u.Name, func(a *account.Account) (*account.Account, error) {
		changed, err := a.With(u.Password, u.Mechanisms)
		if err != nil {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "%v", err)
		}
		if roles != nil {
			changed.Roles = roles
		}
		return changed, nil
	})
}

// changeUser replaces the account of a user of the command's database.
func (x *exec) changeUser(name string, change func(*account.Account) (*account.Account, error)) error {
	rs := x.conn.deployment
	rs.set.Lock()
	defer rs.set.Unlock()
	a := rs.userLocked(x.command.db, name)
	if a == nil {
		return mongoerr.Errorf(mongoerr.UserNotFound, "User '%s@%s' not found", name, x.command.db)
	}
	changed, err := change(a)
	if err != nil {
		return err
	}
	rs.accountsChanged.Add(1)
	rs.users[slices.Index(rs.users, a)] = changed // a connection may be reading the old one
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/dropUser/

func cmdDropUser(x *exec) error {
	name := string(x.command.first.Text())
	rs := x.conn.deployment
	rs.set.Lock()
	defer rs.set.Unlock()
	a := rs.userLocked(x.command.db, name)
	if a == nil {
		return mongoerr.Errorf(mongoerr.UserNotFound, "User '%s@%s' not found", name, x.command.db)
	}
	rs.accountsChanged.Add(1)
	rs.users = slices.DeleteFunc(rs.users, func(other *account.Account) bool { return other == a })
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/usersInfo/

func cmdUsersInfo(x *exec) error {
	wanted, err := x.wantedUsers()
	if err != nil {
		return err
	}
	rs := x.conn.deployment
	rs.set.Lock()
	defer rs.set.Unlock()
	at, dst := wire.BeginArray(x.result.out, "users")
	n := 0
	for _, a := range rs.users {
		if wanted(a) {
			dst = a.AppendInfo(dst, wire.ArrayKey(n))
			n++
		}
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

// wantedUsers reads whom usersInfo asks for: 1 for the database's, a name, {user, db}, {forAllDBs: true}, or several.
func (x *exec) wantedUsers() (func(*account.Account) bool, error) {
	if n, ok := x.command.first.Integer(); ok && n == 1 {
		return func(a *account.Account) bool { return a.DB == x.command.db }, nil
	}
	if x.command.first.IsDocument() && query.Lookup(x.command.first.Data, "forAllDBs").True() {
		return func(*account.Account) bool { return true }, nil
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
	return func(a *account.Account) bool { return slices.Contains(names, a.FullName()) }, nil
}
