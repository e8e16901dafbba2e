package admin

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// https://www.mongodb.com/docs/manual/reference/command/connectionStatus/

func cmdConnectionStatus(x *call.Call) error {
	var roles []account.Role
	var privileges []account.Privilege
	info, dst := wire.BeginEmbedded(x.Result.Out, "authInfo")
	users, dst := wire.BeginArray(dst, "authenticatedUsers")
	if x.FindRights(); x.Client.User != nil {
		at, d := wire.BeginEmbedded(dst, "0")
		dst = wire.EndDocument(wire.AppendString(wire.AppendString(d, "user", x.Client.User.Name), "db", x.Client.User.DB), at)
		roles, privileges = x.Client.Privileges.Roles, x.Client.Privileges.Privileges
	}
	dst = wire.EndDocument(dst, users)
	dst = account.AppendRoleList(dst, "authenticatedUserRoles", roles)
	if x.Arg("showPrivileges").True() {
		dst = account.AppendPrivileges(dst, "authenticatedUserPrivileges", privileges)
	}
	x.Result.Out = wire.EndDocument(dst, info)
	return nil
}
