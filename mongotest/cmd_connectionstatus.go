package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
)

// https://www.mongodb.com/docs/manual/reference/command/connectionStatus/

func cmdConnectionStatus(x *call) error {
	var roles []account.Role
	var privileges []account.Privilege
	info, dst := wire.BeginEmbedded(x.result.out, "authInfo")
	users, dst := wire.BeginArray(dst, "authenticatedUsers")
	if x.findRights(); x.client.user != nil {
		at, d := wire.BeginEmbedded(dst, "0")
		dst = wire.EndDocument(wire.AppendString(wire.AppendString(d, "user", x.client.user.Name), "db", x.client.user.DB), at)
		roles, privileges = x.client.privileges.roles, x.client.privileges.privileges
	}
	dst = wire.EndDocument(dst, users)
	dst = account.AppendRoleList(dst, "authenticatedUserRoles", roles)
	if x.arg("showPrivileges").True() {
		dst = account.AppendPrivileges(dst, "authenticatedUserPrivileges", privileges)
	}
	x.result.out = wire.EndDocument(dst, info)
	return nil
}
