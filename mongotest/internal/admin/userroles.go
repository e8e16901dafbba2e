package admin

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/grantRolesToUser/

func cmdGrantRolesToUser(x *call.Call) error {
	return changeRoles(x, granted)
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

func cmdRevokeRolesFromUser(x *call.Call) error {
	return changeRoles(x, revoked)
}

// changeRoles gives the user that the command names the roles that change makes of the present ones and the command's.
func changeRoles(x *call.Call, change func(has, named []account.Role) []account.Role) error {
	if x.Command.First.Type != bson.TypeString {
		return fields.WrongType(x.Command.Name, x.Command.Name, x.Command.First.Type, "string")
	}
	named, err := namedRoles(x)
	if err != nil {
		return err
	}
	if x.Command.Name == "grantRolesToUser" {
		if err := checkRoles(x, named); err != nil {
			return err
		}
	}
	return changeUser(x, string(x.Command.First.Text()), func(a *account.Account) (*account.Account, error) {
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
func namedRoles(x *call.Call) ([]account.Role, error) {
	for i := range x.Command.Args {
		if e := &x.Command.Args[i]; string(e.Key) != "roles" {
			return nil, fields.Unknown(x.Command.Name, string(e.Key))
		}
	}
	roles := x.Arg("roles")
	switch {
	case roles.Missing():
		return nil, fields.Missing(x.Command.Name, "roles")
	case !roles.IsArray():
		return nil, fields.WrongType(x.Command.Name, "roles", roles.Type, "array")
	}
	named, err := account.ParseRoles(roles.Data, x.Command.DB)
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "%s command requires a non-empty \"roles\" array", x.Command.Name)
	}
	return named, nil
}

// https://www.mongodb.com/docs/manual/reference/command/dropAllUsersFromDatabase/

func cmdDropAllUsersFromDatabase(x *call.Call) error {
	if err := x.NoArgs(); err != nil {
		return err
	}
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		rs.AccountsChanged.Add(1)
		before := len(rs.Users)
		rs.Users = slices.DeleteFunc(rs.Users, func(a *account.Account) bool { return a.DB == x.Command.DB })
		x.Result.Out = wire.AppendInt32(x.Result.Out, "n", int32(before-len(rs.Users)))
		return nil
	})
}
