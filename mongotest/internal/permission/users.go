package permission

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// onNamedRoles needs an action on the databases of the roles that the command has.
func onNamedRoles(action string) rule {
	return func(c *Command) []Need {
		list, err := account.ParseRoles(c.arg("roles").Data, c.DB)
		if err != nil {
			return nil // the command tells the error
		}
		var needs []Need
		for _, r := range list {
			needs = append(needs, Need{account.Resource{DB: r.DB}, []string{action}})
		}
		return needs
	}
}

// onNamedPrivileges needs an action on admin, or on the databases of all privileges that the command has.
func onNamedPrivileges(action string) rule {
	return func(c *Command) []Need {
		list, err := account.ParsePrivileges(c.arg("privileges").Data, "admin")
		if err != nil {
			return nil // the command tells the error
		}
		admin := account.Resource{DB: "admin"}
		var needs []Need
		for _, p := range list {
			on := account.Resource{DB: p.Resource.DB}
			if on.DB == "" || c.allows(admin, action) {
				on = admin
			}
			needs = append(needs, Need{on, []string{action}})
		}
		return needs
	}
}

func needsOfCreateUser(c *Command) []Need {
	return append([]Need{{account.Resource{DB: c.DB}, []string{"createUser"}}}, onNamedRoles("grantRole")(c)...)
}

// needsOfUpdateUser: who sets the roles of a user takes away those that the user has.
func needsOfUpdateUser(c *Command) []Need {
	var needs []Need
	on := account.Resource{DB: c.DB}
	own := c.UserDB == c.DB && c.User == string(c.first().Text())
	if !c.arg("pwd").Missing() && (!own || !c.allows(on, "changeOwnPassword")) {
		needs = append(needs, Need{on, []string{"changePassword"}})
	}
	if !c.arg("customData").Missing() && (!own || !c.allows(on, "changeOwnCustomData")) {
		needs = append(needs, Need{on, []string{"changeCustomData"}})
	}
	if !c.arg("roles").Missing() {
		needs = append(append(needs, Need{account.Resource{}, []string{"revokeRole"}}), onNamedRoles("grantRole")(c)...)
	}
	return needs
}

// needsOfUsersInfo: everybody may see oneself.
func needsOfUsersInfo(c *Command) []Need {
	self := func(v query.Value) bool {
		if v.IsDocument() {
			user, db := query.Lookup(v.Data, "user"), query.Lookup(v.Data, "db")
			return string(user.Text()) == c.User && string(db.Text()) == c.UserDB
		}
		return v.Type == bson.TypeString && string(v.Text()) == c.User && c.DB == c.UserDB
	}
	return c.viewing("viewUser", self)
}

// needsOfRolesInfo: everybody may see the own roles.
func needsOfRolesInfo(c *Command) []Need {
	self := func(v query.Value) bool {
		r, err := account.ParseRole(v.Type, v.Data, c.DB)
		return err == nil && slices.Contains(c.Roles, r)
	}
	return c.viewing("viewRole", self)
}

// viewing is an action on the databases of the users or roles that the command's first field names, less one's own.
func (c *Command) viewing(action string, self func(query.Value) bool) []Need {
	first := c.first()
	list := []query.Value{first}
	if first.IsArray() {
		list = query.Elements(first.Data)
	}
	var needs []Need
	for _, v := range list {
		on := account.Resource{DB: c.DB}
		if v.IsDocument() {
			db := query.Lookup(v.Data, "db")
			on.DB = string(db.Text()) // with forAllDBs it is empty: every database
		}
		if !self(v) {
			needs = append(needs, Need{on, []string{action}})
		}
	}
	return needs
}

func needsOfCreateRole(c *Command) []Need {
	needs := []Need{{account.Resource{DB: c.DB}, []string{"createRole"}}}
	return slices.Concat(needs, onNamedRoles("grantRole")(c), onNamedPrivileges("grantRole")(c))
}

// needsOfUpdateRole: who sets what a role has takes away what it had.
func needsOfUpdateRole(c *Command) []Need {
	needs := []Need{{account.Resource{}, []string{"revokeRole"}}}
	return slices.Concat(needs, onNamedRoles("grantRole")(c), onNamedPrivileges("grantRole")(c))
}

// WithoutPassword returns a command as errors may show it.
func WithoutPassword(command []byte) []byte {
	if query.Lookup(command, "pwd").Missing() {
		return command
	}
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(command); it.Next(); {
		if string(it.Key) == "pwd" {
			dst = wire.AppendString(dst, "pwd", "xxx")
			continue
		}
		dst = wire.AppendValue(dst, string(it.Key), it.Type, it.Value)
	}
	return wire.EndDocument(dst, at)
}
