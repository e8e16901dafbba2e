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

// Roles, like users, are known to every member at once.

// https://www.mongodb.com/docs/manual/reference/command/createRole/

func cmdCreateRole(x *call.Call) error {
	d, err := roleFields(x, "privileges", "roles")
	if err != nil {
		return err
	}
	for _, field := range [...]string{"privileges", "roles"} {
		if x.Arg(field).Missing() {
			return fields.Missing(x.Command.Name, field)
		}
	}
	if d.Name == "" {
		return mongoerr.Errorf(mongoerr.BadValue, "Role name must be non-empty")
	}
	if x.Command.DB == "local" {
		return mongoerr.Errorf(mongoerr.BadValue, "Cannot create roles in the local database")
	}
	return withRoles(x, func(_ call.Locked, all *account.Roles) error {
		switch {
		case account.Builtin(d.Role):
			return mongoerr.Errorf(mongoerr.BadValue, "Cannot create roles with the same name as a built-in role")
		case all.Find(d.Role) != nil:
			return mongoerr.Errorf(51002, "Role \"%s\" already exists", d.Role)
		}
		return all.Put(d)
	})
}

// withRoles changes the roles.
func withRoles(x *call.Call, change func(x call.Locked, all *account.Roles) error) error {
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		if rs.Set.Initiation != replica.Initiated {
			return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
		}
		rs.AccountsChanged.Add(1)
		return change(x, &rs.Roles)
	})
}

// roleFields reads the role that a command is about, and the arrays that it may have. What is not there is nil.
func roleFields(x *call.Call, known ...string) (*account.Definition, error) {
	if x.Command.First.Type != bson.TypeString {
		return nil, fields.WrongType(x.Command.Name, x.Command.Name, x.Command.First.Type, "string")
	}
	d := &account.Definition{Role: account.Role{Name: string(x.Command.First.Text()), DB: x.Command.DB}}
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		name := string(e.Key)
		switch {
		case name == "authenticationRestrictions" && slices.Contains(known, "roles") && slices.Contains(known, "privileges"):
			if len(query.Elements(e.Array())) > 0 {
				return nil, fields.Unsupported(x.Command.Name, name)
			}
			continue
		case !slices.Contains(known, name):
			return nil, fields.Unknown(x.Command.Name, name)
		case e.Array() == nil:
			return nil, fields.WrongType(x.Command.Name, name, e.Type, "array")
		}
		var err error
		if name == "roles" {
			d.Roles, err = account.ParseRoles(e.Array(), x.Command.DB)
		} else {
			d.Privileges, err = account.ParsePrivileges(e.Array(), x.Command.DB)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// changeRole changes the role that the command names, by what the command has.
func changeRole(x *call.Call, field string, change func(changed, asked *account.Definition)) error {
	known := []string{field}
	if field == "" {
		known = []string{"privileges", "roles"}
	}
	asked, err := roleFields(x, known...)
	if err != nil {
		return err
	}
	if field != "" {
		switch v := x.Arg(field); {
		case v.Missing():
			return fields.Missing(x.Command.Name, field)
		case len(query.Elements(v.Data)) == 0:
			return mongoerr.Errorf(mongoerr.BadValue, "%s command requires a non-empty \"%s\" array", x.Command.Name, field)
		}
	}
	return withRoles(x, func(_ call.Locked, all *account.Roles) error {
		d, err := all.Modifiable(asked.Role)
		if err != nil {
			return err
		}
		changed := *d
		changed.Roles = slices.Clone(d.Roles)
		change(&changed, asked)
		return all.Put(&changed)
	})
}

// https://www.mongodb.com/docs/manual/reference/command/updateRole/

func cmdUpdateRole(x *call.Call) error {
	if x.Arg("privileges").Missing() && x.Arg("roles").Missing() {
		return mongoerr.Errorf(mongoerr.BadValue, "Must specify at least one field to update in updateRole")
	}
	return changeRole(x, "", func(changed, asked *account.Definition) {
		if !x.Arg("privileges").Missing() {
			changed.Privileges = asked.Privileges
		}
		if !x.Arg("roles").Missing() {
			changed.Roles = asked.Roles
		}
	})
}

// https://www.mongodb.com/docs/manual/reference/command/grantPrivilegesToRole/

func cmdGrantPrivilegesToRole(x *call.Call) error {
	return changeRole(x, "privileges", func(changed, asked *account.Definition) {
		changed.Privileges = account.With(changed.Privileges, asked.Privileges)
	})
}

// https://www.mongodb.com/docs/manual/reference/command/revokePrivilegesFromRole/

func cmdRevokePrivilegesFromRole(x *call.Call) error {
	return changeRole(x, "privileges", func(changed, asked *account.Definition) {
		changed.Privileges = account.Without(changed.Privileges, asked.Privileges)
	})
}

// https://www.mongodb.com/docs/manual/reference/command/grantRolesToRole/

func cmdGrantRolesToRole(x *call.Call) error {
	return changeRole(x, "roles", func(changed, asked *account.Definition) { changed.Roles = granted(changed.Roles, asked.Roles) })
}

// https://www.mongodb.com/docs/manual/reference/command/revokeRolesFromRole/

func cmdRevokeRolesFromRole(x *call.Call) error {
	return changeRole(x, "roles", func(changed, asked *account.Definition) { changed.Roles = revoked(changed.Roles, asked.Roles) })
}

// https://www.mongodb.com/docs/manual/reference/command/dropRole/

func cmdDropRole(x *call.Call) error {
	d, err := roleFields(x)
	if err != nil {
		return err
	}
	return withRoles(x, func(x call.Locked, all *account.Roles) error {
		if _, err := all.Modifiable(d.Role); err != nil {
			return err
		}
		return dropRoles(x, d.Role)
	})
}

// https://www.mongodb.com/docs/manual/reference/command/dropAllRolesFromDatabase/

func cmdDropAllRolesFromDatabase(x *call.Call) error {
	if err := x.NoArgs(); err != nil {
		return err
	}
	return withRoles(x, func(x call.Locked, all *account.Roles) error {
		list := all.Of(x.Command.DB, false)
		x.Result.Out = wire.AppendInt32(x.Result.Out, "n", int32(len(list)))
		return dropRoles(x, list...)
	})
}

// dropRoles removes roles, also from the users and the roles that have them.
func dropRoles(x call.Locked, list ...account.Role) error {
	rs := x.Client.Cluster
	for _, r := range list {
		rs.Roles.Drop(r)
	}
	for i, a := range rs.Users {
		has, err := a.RoleList()
		if err != nil {
			return err
		}
		if rest := revoked(slices.Clone(has), list); len(rest) < len(has) {
			changed := *a
			changed.Roles = account.EncodeRoles(rest)
			rs.Users[i] = &changed
		}
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/rolesInfo/

func cmdRolesInfo(x *call.Call) error {
	privileges, builtin, err := rolesInfoOptions(x)
	if err != nil {
		return err
	}
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		list, err := wantedRoles(x, builtin)
		if err != nil {
			return err
		}
		at, dst := wire.BeginArray(x.Result.Out, "roles")
		n := 0
		for _, r := range list {
			if rs.Roles.Find(r) != nil {
				dst = rs.Roles.AppendInfo(dst, wire.ArrayKey(n), r, privileges)
				n++
			}
		}
		x.Result.Out = wire.EndDocument(dst, at)
		return nil
	})
}

func rolesInfoOptions(x *call.Call) (privileges, builtin bool, err error) {
	for i := range x.Command.Args {
		switch e := &x.Command.Args[i]; string(e.Key) {
		case "showPrivileges":
			if e.Type == bson.TypeString {
				return false, false, fields.Unsupported(x.Command.Name, "showPrivileges: \"asUserFragment\"")
			}
			privileges = e.True()
		case "showBuiltinRoles":
			builtin = e.True()
		case "showAuthenticationRestrictions":
		default:
			return false, false, fields.Unknown(x.Command.Name, string(e.Key))
		}
	}
	return privileges, builtin, nil
}

// wantedRoles reads which roles rolesInfo asks for: 1 for the database's, a name, {role, db}, or several.
func wantedRoles(x call.Locked, builtin bool) ([]account.Role, error) {
	first := x.Command.First
	if n, ok := first.Integer(); ok && n == 1 {
		return x.Client.Cluster.Roles.Of(x.Command.DB, builtin), nil
	}
	list := []query.Value{first}
	if first.IsArray() {
		list = query.Elements(first.Data)
	}
	var roles []account.Role
	for _, v := range list {
		r, err := account.ParseRole(v.Type, v.Data, x.Command.DB)
		if err != nil {
			return nil, err
		}
		roles = append(roles, r)
	}
	return roles, nil
}
