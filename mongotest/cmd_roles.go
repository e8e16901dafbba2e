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

// Roles, like users, are known to every member at once.

// https://www.mongodb.com/docs/manual/reference/command/createRole/

func cmdCreateRole(x *call) error {
	d, err := x.roleFields("privileges", "roles")
	if err != nil {
		return err
	}
	for _, field := range [...]string{"privileges", "roles"} {
		if x.arg(field).Missing() {
			return fields.Missing(x.command.name, field)
		}
	}
	if d.Name == "" {
		return mongoerr.Errorf(mongoerr.BadValue, "Role name must be non-empty")
	}
	if x.command.db == "local" {
		return mongoerr.Errorf(mongoerr.BadValue, "Cannot create roles in the local database")
	}
	return x.withRoles(func(all *account.Roles) error {
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
func (x *call) withRoles(change func(all *account.Roles) error) error {
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	if rs.set.Initiation != replica.Initiated {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	rs.accountsChanged.Add(1)
	return change(&rs.roles)
}

// roleFields reads the role that a command is about, and the arrays that it may have. What is not there is nil.
func (x *call) roleFields(known ...string) (*account.Definition, error) {
	if x.command.first.Type != bson.TypeString {
		return nil, fields.WrongType(x.command.name, x.command.name, x.command.first.Type, "string")
	}
	d := &account.Definition{Role: account.Role{Name: string(x.command.first.Text()), DB: x.command.db}}
	for i := range x.command.args {
		e := &x.command.args[i]
		name := string(e.Key)
		switch {
		case name == "authenticationRestrictions" && slices.Contains(known, "roles") && slices.Contains(known, "privileges"):
			if len(query.Elements(e.Array())) > 0 {
				return nil, fields.Unsupported(x.command.name, name)
			}
			continue
		case !slices.Contains(known, name):
			return nil, fields.Unknown(x.command.name, name)
		case e.Array() == nil:
			return nil, fields.WrongType(x.command.name, name, e.Type, "array")
		}
		var err error
		if name == "roles" {
			d.Roles, err = account.ParseRoles(e.Array(), x.command.db)
		} else {
			d.Privileges, err = account.ParsePrivileges(e.Array(), x.command.db)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// changeRole changes the role that the command names, by what the command has.
func (x *call) changeRole(field string, change func(changed, asked *account.Definition)) error {
	known := []string{field}
	if field == "" {
		known = []string{"privileges", "roles"}
	}
	asked, err := x.roleFields(known...)
	if err != nil {
		return err
	}
	if field != "" {
		switch v := x.arg(field); {
		case v.Missing():
			return fields.Missing(x.command.name, field)
		case len(query.Elements(v.Data)) == 0:
			return mongoerr.Errorf(mongoerr.BadValue, "%s command requires a non-empty \"%s\" array", x.command.name, field)
		}
	}
	return x.withRoles(func(all *account.Roles) error {
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

func cmdUpdateRole(x *call) error {
	if x.arg("privileges").Missing() && x.arg("roles").Missing() {
		return mongoerr.Errorf(mongoerr.BadValue, "Must specify at least one field to update in updateRole")
	}
	return x.changeRole("", func(changed, asked *account.Definition) {
		if !x.arg("privileges").Missing() {
			changed.Privileges = asked.Privileges
		}
		if !x.arg("roles").Missing() {
			changed.Roles = asked.Roles
		}
	})
}

// https://www.mongodb.com/docs/manual/reference/command/grantPrivilegesToRole/

func cmdGrantPrivilegesToRole(x *call) error {
	return x.changeRole("privileges", func(changed, asked *account.Definition) {
		changed.Privileges = account.With(changed.Privileges, asked.Privileges)
	})
}

// https://www.mongodb.com/docs/manual/reference/command/revokePrivilegesFromRole/

func cmdRevokePrivilegesFromRole(x *call) error {
	return x.changeRole("privileges", func(changed, asked *account.Definition) {
		changed.Privileges = account.Without(changed.Privileges, asked.Privileges)
	})
}

// https://www.mongodb.com/docs/manual/reference/command/grantRolesToRole/

func cmdGrantRolesToRole(x *call) error {
	return x.changeRole("roles", func(changed, asked *account.Definition) { changed.Roles = granted(changed.Roles, asked.Roles) })
}

// https://www.mongodb.com/docs/manual/reference/command/revokeRolesFromRole/

func cmdRevokeRolesFromRole(x *call) error {
	return x.changeRole("roles", func(changed, asked *account.Definition) { changed.Roles = revoked(changed.Roles, asked.Roles) })
}

// https://www.mongodb.com/docs/manual/reference/command/dropRole/

func cmdDropRole(x *call) error {
	d, err := x.roleFields()
	if err != nil {
		return err
	}
	return x.withRoles(func(all *account.Roles) error {
		if _, err := all.Modifiable(d.Role); err != nil {
			return err
		}
		return x.dropRolesLocked(d.Role)
	})
}

// https://www.mongodb.com/docs/manual/reference/command/dropAllRolesFromDatabase/

func cmdDropAllRolesFromDatabase(x *call) error {
	if err := x.noArgs(); err != nil {
		return err
	}
	return x.withRoles(func(all *account.Roles) error {
		list := all.Of(x.command.db, false)
		x.result.out = wire.AppendInt32(x.result.out, "n", int32(len(list)))
		return x.dropRolesLocked(list...)
	})
}

// dropRolesLocked removes roles, also from the users and the roles that have them.
func (x *call) dropRolesLocked(list ...account.Role) error {
	rs := x.client.cluster
	for _, r := range list {
		rs.roles.Drop(r)
	}
	for i, a := range rs.users {
		has, err := a.RoleList()
		if err != nil {
			return err
		}
		if rest := revoked(slices.Clone(has), list); len(rest) < len(has) {
			changed := *a
			changed.Roles = account.EncodeRoles(rest)
			rs.users[i] = &changed
		}
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/rolesInfo/

func cmdRolesInfo(x *call) error {
	privileges, builtin, err := x.rolesInfoOptions()
	if err != nil {
		return err
	}
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	list, err := x.wantedRolesLocked(builtin)
	if err != nil {
		return err
	}
	at, dst := wire.BeginArray(x.result.out, "roles")
	n := 0
	for _, r := range list {
		if rs.roles.Find(r) != nil {
			dst = rs.roles.AppendInfo(dst, wire.ArrayKey(n), r, privileges)
			n++
		}
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

func (x *call) rolesInfoOptions() (privileges, builtin bool, err error) {
	for i := range x.command.args {
		switch e := &x.command.args[i]; string(e.Key) {
		case "showPrivileges":
			if e.Type == bson.TypeString {
				return false, false, fields.Unsupported(x.command.name, "showPrivileges: \"asUserFragment\"")
			}
			privileges = e.True()
		case "showBuiltinRoles":
			builtin = e.True()
		case "showAuthenticationRestrictions":
		default:
			return false, false, fields.Unknown(x.command.name, string(e.Key))
		}
	}
	return privileges, builtin, nil
}

// wantedRolesLocked reads which roles rolesInfo asks for: 1 for the database's, a name, {role, db}, or several.
func (x *call) wantedRolesLocked(builtin bool) ([]account.Role, error) {
	first := x.command.first
	if n, ok := first.Integer(); ok && n == 1 {
		return x.client.cluster.roles.Of(x.command.db, builtin), nil
	}
	list := []query.Value{first}
	if first.IsArray() {
		list = query.Elements(first.Data)
	}
	var roles []account.Role
	for _, v := range list {
		r, err := account.ParseRole(v.Type, v.Data, x.command.db)
		if err != nil {
			return nil, err
		}
		roles = append(roles, r)
	}
	return roles, nil
}
