package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/grantRolesToUser/

func cmdGrantRolesToUser(x *call) error {
	return x.changeRoles(granted)
}

// granted returns roles and those that are granted besides.
func granted(has, more []account.Role) []account.Role {
	for _, r := range more {
		if !slices.Contains(has, r) {
			has = append(has, r)
		}
	}
	return has
}

// revoked returns roles without those that are revoked.
func revoked(has, gone []account.Role) []account.Role {
	return slices.DeleteFunc(has, func(r account.Role) bool { return slices.Contains(gone, r) })
}

// https://www.mongodb.com/docs/manual/reference/command/revokeRolesFromUser/

func cmdRevokeRolesFromUser(x *call) error {
	return x.changeRoles(revoked)
}

// changeRoles gives the user that the command names the roles that change makes of the present ones and the command's.
func (x *call) changeRoles(change func(has, named []account.Role) []account.Role) error {
	if x.command.first.Type != bson.TypeString {
		return fields.WrongType(x.command.name, x.command.name, x.command.first.Type, "string")
	}
	named, err := x.namedRoles()
	if err != nil {
		return err
	}
	if x.command.name == "grantRolesToUser" {
		if err := x.checkRoles(named); err != nil {
			return err
		}
	}
	return x.changeUser(string(x.command.first.Text()), func(a *account.Account) (*account.Account, error) {
		has, err := a.RoleList()
		if err != nil {
			return nil, err
		}
		changed := *a
		changed.Roles = account.EncodeRoles(change(has, named))
		return &changed, nil
	})
}

// namedRoles reads the roles of the command, of which there must be one at least.
func (x *call) namedRoles() ([]account.Role, error) {
	for i := range x.command.args {
		if e := &x.command.args[i]; string(e.Key) != "roles" {
			return nil, fields.Unknown(x.command.name, string(e.Key))
		}
	}
	roles := x.arg("roles")
	switch {
	case roles.Missing():
		return nil, fields.Missing(x.command.name, "roles")
	case !roles.IsArray():
		return nil, fields.WrongType(x.command.name, "roles", roles.Type, "array")
	}
	named, err := account.ParseRoles(roles.Data, x.command.db)
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "%s command requires a non-empty \"roles\" array", x.command.name)
	}
	return named, nil
}

// https://www.mongodb.com/docs/manual/reference/command/dropAllUsersFromDatabase/

func cmdDropAllUsersFromDatabase(x *call) error {
	if err := x.noArgs(); err != nil {
		return err
	}
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	rs.accountsChanged.Add(1)
	before := len(rs.users)
	rs.users = slices.DeleteFunc(rs.users, func(a *account.Account) bool { return a.DB == x.command.db })
	x.result.out = wire.AppendInt32(x.result.out, "n", int32(before-len(rs.users)))
	return nil
}
