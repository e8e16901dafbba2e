package admin

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/createUser/
//
// Users are known to every member at once.

func cmdCreateUser(x *call.Call) error {
	u, err := parseUser(x)
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
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		if rs.Set.Initiation != replica.Initiated {
			return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
		}
		if x.User(a.DB, a.Name) != nil {
			return mongoerr.Errorf(51003, "User \"%s@%s\" already exists", a.Name, a.DB)
		}
		rs.Users = append(rs.Users, a)
		rs.AccountsChanged.Add(1)
		if rs.RequireAuth {
			rs.Guarded.Store(true)
		}
		return nil
	})
}

// checkRoles refuses roles that there are not.
func checkRoles(x *call.Call, list []account.Role) error {
	return call.WithLock(x, func(x call.Locked) error {
		return x.Client.Cluster.Roles.Check(list)
	})
}

// userFields are what a command says of a user.
type userFields struct {
	name, database, password string
	mechanisms               []string
	roles                    []byte // nil if it says none
}

// parseUser returns the user that a command describes.
func parseUser(x *call.Call) (u userFields, err error) {
	u = userFields{name: string(x.Command.First.Text()), database: x.Command.DB}
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch string(e.Key) {
		case "pwd":
			u.password = string(e.Text())
		case "roles":
			roles := e.Array()
			if roles == nil {
				return u, fields.WrongType(x.Command.Name, "roles", e.Type, "array")
			}
			list, err := account.ParseRoles(roles, x.Command.DB)
			if err == nil {
				err = checkRoles(x, list)
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
			return u, fields.Unknown(x.Command.Name, string(e.Key))
		}
	}
	return u, nil
}

// https://www.mongodb.com/docs/manual/reference/command/updateUser/

func cmdUpdateUser(x *call.Call) error {
	u, err := parseUser(x)
	if err != nil {
		return err
	}
	if len(x.Command.Args) == 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "Must specify at least one field to update in updateUser")
	}
	return changeUser(x, u.name, func(a *account.Account) (*account.Account, error) {
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
func changeUser(x *call.Call, name string, change func(*account.Account) (*account.Account, error)) error {
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		a := x.User(x.Command.DB, name)
		if a == nil {
			return mongoerr.Errorf(mongoerr.UserNotFound, "User '%s@%s' not found", name, x.Command.DB)
		}
		changed, err := change(a)
		if err != nil {
			return err
		}
		rs.AccountsChanged.Add(1)
		rs.Users[slices.Index(rs.Users, a)] = changed // a connection may be reading the old one
		return nil
	})
}

// https://www.mongodb.com/docs/manual/reference/command/dropUser/

func cmdDropUser(x *call.Call) error {
	name := string(x.Command.First.Text())
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		a := x.User(x.Command.DB, name)
		if a == nil {
			return mongoerr.Errorf(mongoerr.UserNotFound, "User '%s@%s' not found", name, x.Command.DB)
		}
		rs.AccountsChanged.Add(1)
		rs.Users = slices.DeleteFunc(rs.Users, func(other *account.Account) bool { return other == a })
		return nil
	})
}

// https://www.mongodb.com/docs/manual/reference/command/usersInfo/

func cmdUsersInfo(x *call.Call) error {
	wanted, err := wantedUsers(x)
	if err != nil {
		return err
	}
	credentials, err := showsCredentials(x)
	if err != nil {
		return err
	}
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		at, dst := wire.BeginArray(x.Result.Out, "users")
		n := 0
		for _, a := range rs.Users {
			if wanted(a) {
				dst = a.AppendInfo(dst, wire.ArrayKey(n), credentials)
				n++
			}
		}
		x.Result.Out = wire.EndDocument(dst, at)
		return nil
	})
}

// showsCredentials reads the field by which usersInfo shows credentials, of one user as of all. It needs no privilege but viewUser.
func showsCredentials(x *call.Call) (bool, error) {
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		if string(e.Key) != "showCredentials" {
			continue
		}
		if e.Type != bson.TypeBoolean {
			return false, fields.WrongType(x.Command.Name, "showCredentials", e.Type, "bool")
		}
		return e.True(), nil
	}
	return false, nil
}

// wantedUsers reads whom usersInfo asks for: 1 for the database's, a name, {user, db}, {forAllDBs: true}, or several.
func wantedUsers(x *call.Call) (func(*account.Account) bool, error) {
	if n, ok := x.Command.First.Integer(); ok && n == 1 {
		return func(a *account.Account) bool { return a.DB == x.Command.DB }, nil
	}
	if x.Command.First.IsDocument() && query.Lookup(x.Command.First.Data, "forAllDBs").True() {
		return func(*account.Account) bool { return true }, nil
	}
	list := []query.Value{x.Command.First}
	if x.Command.First.IsArray() {
		list = query.Elements(x.Command.First.Data)
	}
	var names []string
	for _, v := range list {
		switch {
		case v.Type == bson.TypeString:
			names = append(names, x.Command.DB+"."+string(v.Text()))
		case v.IsDocument():
			user, db := query.Lookup(v.Data, "user"), query.Lookup(v.Data, "db")
			names = append(names, string(db.Text())+"."+string(user.Text()))
		default:
			return nil, mongoerr.Errorf(mongoerr.BadValue, "UserName must be either a string or an object")
		}
	}
	return func(a *account.Account) bool { return slices.Contains(names, a.FullName()) }, nil
}
