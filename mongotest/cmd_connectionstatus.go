package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
)

// https://www.mongodb.com/docs/manual/reference/command/connectionStatus/

func cmdConnectionStatus(x *exec) error {
	var roles []account.Role
	var privileges []account.Privilege
	info, dst := wire.BeginEmbedded(x.result.out, "authInfo")
	users, dst := wire.BeginArray(dst, "authenticatedUsers")
	if x.findRights(); x.conn.who != nil {
		at, d := wire.BeginEmbedded(dst, "0")
		dst = wire.EndDocument(wire.AppendString(wire.AppendString(d, "user", x.conn.who.Name), "db", x.conn.who.DB), at)
		roles, privileges = x.conn.rights.roles, x.conn.rights.privileges
	}
	dst = wire.EndDocument(dst, users)
	dst = account.AppendRoleList(dst, "authenticatedUserRoles", roles)
	if x.arg("showPrivileges").True() {
		dst = account.AppendPrivileges(dst, "authenticatedUserPrivileges", privileges)
	}
	x.result.out = wire.EndDocument(dst, info)
	return nil
}
