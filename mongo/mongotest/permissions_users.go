package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// onNamedRoles needs an action on the databases of the roles that the command has.
func onNamedRoles(action string) permission {
	return func(x *exec) []need {
		list, err := account.ParseRoles(x.arg("roles").Data, x.command.db)
		if err != nil {
			return nil // the command tells the error
		}
		var needs []need
		for _, r := range list {
			needs = append(needs, need{account.Resource{DB: r.DB}, []string{action}})
		}
		return needs
	}
}

// onNamedPrivileges needs an action on admin, or on the databases of all privileges that the command has.
func onNamedPrivileges(action string) permission {
	return func(x *exec) []need {
		list, err := account.ParsePrivileges(x.arg("privileges").Data, "admin")
		if err != nil {
			return nil // the command tells the error
		}
		admin := account.Resource{DB: "admin"}
		var needs []need
		for _, p := range list {
			on := account.Resource{DB: p.Resource.DB}
			if on.DB == "" || x.allows(admin, action) {
				on = admin
			}
			needs = append(needs, need{on, []string{action}})
		}
		return needs
	}
}

func needsOfCreateUser(x *exec) []need {
	return append([]need{{account.Resource{DB: x.command.db}, []string{"createUser"}}}, onNamedRoles("grantRole")(x)...)
}

// needsOfUpdateUser: who sets the roles of a user takes away those that the user has.
func needsOfUpdateUser(x *exec) []need {
	var needs []need
	on := account.Resource{DB: x.command.db}
	own := x.conn.who.DB == x.command.db && x.conn.who.Name == string(x.command.first.Text())
	if !x.arg("pwd").Missing() && (!own || !x.allows(on, "changeOwnPassword")) {
		needs = append(needs, need{on, []string{"changePassword"}})
	}
	if !x.arg("customData").Missing() && (!own || !x.allows(on, "changeOwnCustomData")) {
		needs = append(needs, need{on, []string{"changeCustomData"}})
	}
	if !x.arg("roles").Missing() {
		needs = append(append(needs, need{account.Resource{}, []string{"revokeRole"}}), onNamedRoles("grantRole")(x)...)
	}
	return needs
}

// needsOfUsersInfo: everybody may see oneself.
func needsOfUsersInfo(x *exec) []need {
	self := func(v query.Value) bool {
		if v.IsDocument() {
			user, db := query.Lookup(v.Data, "user"), query.Lookup(v.Data, "db")
			return string(user.Text()) == x.conn.who.Name && string(db.Text()) == x.conn.who.DB
		}
		return v.Type == bson.TypeString && string(v.Text()) == x.conn.who.Name && x.command.db == x.conn.who.DB
	}
	return x.viewing("viewUser", self)
}

// needsOfRolesInfo: everybody may see the own roles.
func needsOfRolesInfo(x *exec) []need {
	self := func(v query.Value) bool {
		r, err := account.ParseRole(v.Type, v.Data, x.command.db)
		return err == nil && slices.Contains(x.roles(), r)
	}
	return x.viewing("viewRole", self)
}

// viewing is an action on the databases of the users or roles that the command's first field names, less one's own.
func (x *exec) viewing(action string, self func(query.Value) bool) []need {
	first := x.command.first
	list := []query.Value{first}
	if first.IsArray() {
		list = query.Elements(first.Data)
	}
	var needs []need
	for _, v := range list {
		on := account.Resource{DB: x.command.db}
		if v.IsDocument() {
			db := query.Lookup(v.Data, "db")
			on.DB = string(db.Text()) // with forAllDBs it is empty: every database
		}
		if !self(v) {
			needs = append(needs, need{on, []string{action}})
		}
	}
	return needs
}

func needsOfCreateRole(x *exec) []need {
	needs := []need{{account.Resource{DB: x.command.db}, []string{"createRole"}}}
	return slices.Concat(needs, onNamedRoles("grantRole")(x), onNamedPrivileges("grantRole")(x))
}

// needsOfUpdateRole: who sets what a role has takes away what it had.
func needsOfUpdateRole(x *exec) []need {
	needs := []need{{account.Resource{}, []string{"revokeRole"}}}
	return slices.Concat(needs, onNamedRoles("grantRole")(x), onNamedPrivileges("grantRole")(x))
}
