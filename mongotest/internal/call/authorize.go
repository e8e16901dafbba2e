package call

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/permission"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/authorization/

// Privileges are what the user of a connection may do.
type Privileges struct {
	as         *account.Account // whose they are
	changed    int64            // Cluster.AccountsChanged when they were found
	Roles      []account.Role
	Privileges []account.Privilege
}

// Controlled reports whether access control concerns the command.
func (x *Call) Controlled() bool { return x.Client.Cluster.Guarded.Load() && !x.Client.Direct }

// authorize refuses a command that the connection's user may not run.
func authorize(x *Call) error {
	c := &x.Command
	if !x.Controlled() || c.Spec.Greeting || c.Spec.Open && x.Client.User == nil {
		return nil
	}
	if x.FindRights(); x.Client.User == nil {
		if c.Spec.Open {
			return nil
		}
		return mongoerr.Errorf(mongoerr.Unauthorized, "Command %s requires authentication", c.Name)
	}
	for _, n := range permission.Of(permissionOf(x)) {
		if !x.Allows(n.On, n.Actions...) {
			return x.Unauthorized()
		}
	}
	return nil
}

// permissionOf is the command for those who know what it needs.
func permissionOf(x *Call) *permission.Command {
	return &permission.Command{
		Name: x.Command.Name, DB: x.Command.DB, Body: x.Command.Raw, User: x.Client.User.Name, UserDB: x.Client.User.DB,
		Roles: x.Client.Privileges.Roles, Privileges: x.Client.Privileges.Privileges,
		Documents: func(field string) [][]byte {
			docs, _ := x.Documents(field) // the command tells the error
			return docs
		},
	}
}

// Unauthorized is the error of a command that the user may not run.
func (x *Call) Unauthorized() error {
	return mongoerr.Errorf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", x.Command.DB,
		query.DocumentText(permission.WithoutPassword(x.Command.Raw)))
}

// FindRights looks up what the connection's user may do, if that may have changed. Who is no user any more is nobody.
func (x *Call) FindRights() {
	c, rs := x.Client, x.Client.Cluster
	if c.User == nil || c.Privileges.as == c.User && c.Privileges.changed == rs.AccountsChanged.Load() {
		return
	}
	c.Privileges = WithLock(x, privileges)
	c.User = c.Privileges.as
}

// privileges looks up what the connection's user may do.
func privileges(x Locked) Privileges {
	rs := x.Client.Cluster
	p := Privileges{as: x.User(x.Client.User.DB, x.Client.User.Name), changed: rs.AccountsChanged.Load()}
	if p.as == nil {
		return p
	}
	list, err := p.as.RoleList()
	if err != nil {
		return p // checked when they were given
	}
	p.Roles = slices.Concat(list, rs.Roles.Inherited(list))
	p.Privileges = rs.Roles.Privileges(list)
	return p
}

// privilegesOf are those of the connection's user.
func privilegesOf(x *Call) []account.Privilege {
	if !x.Controlled() {
		return everything
	}
	return x.Client.Privileges.Privileges
}

var everything = []account.Privilege{{Resource: account.Resource{Any: true}, Actions: []string{"anyAction"}}}

// Allows reports whether the connection's user may do all actions on a resource.
func (x *Call) Allows(on account.Resource, actions ...string) bool {
	return account.Allows(privilegesOf(x), on, actions...)
}

// UserName is the name of the connection's user, "" where there is no access control.
func (x *Call) UserName() string {
	if !x.Controlled() || x.Client.User == nil {
		return ""
	}
	return x.Client.User.FullName()
}

// CheckKill refuses to end a cursor of somebody else, without the right to.
func (x *Call) CheckKill(id int64) error {
	return WithLock(x, func(x Locked) error {
		m := x.Client.Member
		if x.Client.Router != nil {
			m = x.Client.Router.Cursors[id]
		}
		if m == nil || m.Cursors[id] == nil || mayKill(x.Call, m.Cursors[id]) {
			return nil
		}
		return x.Unauthorized()
	})
}

// MayList reports whether the connection's user may know of a database; with own only because of a privilege on it.
func (x *Call) MayList(db string, own bool) bool {
	return !own && x.Allows(account.Cluster, "listDatabases") || account.Touches(privilegesOf(x), db)
}

// mayKill reports whether the connection's user may end a cursor.
func mayKill(x *Call, c *Cursor) bool {
	return c.User == x.UserName() || x.Allows(account.Cluster, "killAnyCursor") || x.Allows(permission.InFull(c.NS), "killCursors")
}

// CheckSessionsOfOthers refuses to kill sessions, other than some that the command names, without the right to kill any.
func (x *Call) CheckSessionsOfOthers(named int) error {
	if named > 0 || x.Command.Name != "killSessions" || x.Allows(account.Cluster, "killAnySession") {
		return nil
	}
	return x.Unauthorized()
}
