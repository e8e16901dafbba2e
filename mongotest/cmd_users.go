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

func cmdCreateUser(x *call) error {
	u, err := x.user()
	if err != nil {
		return err
	}
	if u.roles == nil {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'createUser.roles' is missing but a required field")
	}
	a, err := account.New(u.database, u.name, u.password, u.mechanisms)
	if err != nil {
		return mongoerr.Errorf(mongoerr.BadValue, "%v", err)
	}
	a.Roles = u.roles
	rs := x.client.cluster
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
	if rs.requireAuth {
		rs.guarded.Store(true)
	}
	return nil
}

// checkRoles refuses roles that there are not.
func (x *call) checkRoles(list []account.Role) error {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	return x.client.cluster.roles.Check(list)
}

// userFields are what a command says of a user.
type userFields struct {
	name, database, password string
	mechanisms               []string
	roles                    []byte // nil if it says none
}

// user returns the user that a command describes.
func (x *call) user() (u userFields, err error) {
	u = userFields{name: string(x.command.first.Text()), database: x.command.db}
	for i := range x.command.args {
		e := &x.command.args[i]
		switch string(e.Key) {
		case "pwd":
			u.password = string(e.Text())
		case "roles":
			roles := e.Array()
			if roles == nil {
				return u, fields.WrongType(x.command.name, "roles", e.Type, "array")
			}
			list, err := account.ParseRoles(roles, x.command.db)
			if err == nil {
				err = x.checkRoles(list)
			}
			if err != nil {
				return u, err
			}
			u.roles = account.EncodeRoles(list)
		case "mechanisms":
			for _, m := range query.Elements(e.Array()) {
				u.mechanisms = append(u.mechanisms, string(m.Text()))
			}
		case "customData", "digestPassword", "authenticationRestrictions":
		default:
			return u, fields.Unknown(x.command.name, string(e.Key))
		}
	}
	return u, nil
}

// https://www.mongodb.com/docs/manual/reference/command/updateUser/

func cmdUpdateUser(x *call) error {
	u, err := x.user()
	if err != nil {
		return err
	}
	if len(x.command.args) == 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "Must specify at least one field to update in updateUser")
	}
	return x.changeUser(u.name, func(a *account.Account) (*account.Account, error) {
		changed, err := a.With(u.password, u.mechanisms)
		if err != nil {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "%v", err)
		}
		if u.roles != nil {
			changed.Roles = u.roles
		}
		return changed, nil
	})
}

// changeUser replaces the account of a user of the command's database.
func (x *call) changeUser(name string, change func(*account.Account) (*account.Account, error)) error {
	rs := x.client.cluster
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

func cmdDropUser(x *call) error {
	name := string(x.command.first.Text())
	rs := x.client.cluster
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

func cmdUsersInfo(x *call) error {
	wanted, err := x.wantedUsers()
	if err != nil {
		return err
	}
	rs := x.client.cluster
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
func (x *call) wantedUsers() (func(*account.Account) bool, error) {
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
