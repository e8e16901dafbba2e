package mongotest

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/permission"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/authorization/

// privileges are what the user of a connection may do.
type privileges struct {
	as         *account.Account // whose they are
	changed    int64            // Deployment.accountsChanged when they were found
	roles      []account.Role
	privileges []account.Privilege
}

// controlled reports whether access control concerns the command.
func (x *call) controlled() bool { return x.client.cluster.guarded.Load() && !x.client.direct }

// authorize refuses a command that the connection's user may not run.
func (x *call) authorize() error {
	c := &x.command
	if !x.controlled() || c.spec.greeting || c.spec.open && x.client.user == nil {
		return nil
	}
	if x.findRights(); x.client.user == nil {
		if c.spec.open {
			return nil
		}
		return mongoerr.Errorf(mongoerr.Unauthorized, "Command %s requires authentication", c.name)
	}
	for _, n := range permission.Of(x.permission()) {
		if !x.allows(n.On, n.Actions...) {
			return x.unauthorized()
		}
	}
	return nil
}

// permission is the command for those who know what it needs.
func (x *call) permission() *permission.Command {
	return &permission.Command{
		Name: x.command.name, DB: x.command.db, Body: x.command.raw, User: x.client.user.Name, UserDB: x.client.user.DB,
		Roles: x.client.privileges.roles, Privileges: x.client.privileges.privileges,
		Documents: func(field string) [][]byte {
			docs, _ := x.documents(field) // the command tells the error
			return docs
		},
	}
}

func (x *call) unauthorized() error {
	return mongoerr.Errorf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", x.command.db,
		query.DocumentText(permission.WithoutPassword(x.command.raw)))
}

// findRights looks up what the connection's user may do, if that may have changed. Who is no user any more is nobody.
func (x *call) findRights() {
	c, rs := x.client, x.client.cluster
	if c.user == nil || c.privileges.as == c.user && c.privileges.changed == rs.accountsChanged.Load() {
		return
	}
	rs.set.Lock()
	defer rs.set.Unlock()
	c.user = rs.userLocked(c.user.DB, c.user.Name)
	c.privileges = privileges{as: c.user, changed: rs.accountsChanged.Load()}
	if c.user == nil {
		return
	}
	list, err := c.user.RoleList()
	if err != nil {
		return // checked when they were given
	}
	c.privileges.roles = slices.Concat(list, rs.roles.Inherited(list))
	c.privileges.privileges = rs.roles.Privileges(list)
}

// privileges are those of the connection's user.
func (x *call) privileges() []account.Privilege {
	if !x.controlled() {
		return everything
	}
	return x.client.privileges.privileges
}

var everything = []account.Privilege{{Resource: account.Resource{Any: true}, Actions: []string{"anyAction"}}}

// allows reports whether the connection's user may do all actions on a resource.
func (x *call) allows(on account.Resource, actions ...string) bool {
	return account.Allows(x.privileges(), on, actions...)
}

// userName is the name of the connection's user, "" where there is no access control.
func (x *call) userName() string {
	if !x.controlled() || x.client.user == nil {
		return ""
	}
	return x.client.user.FullName()
}

// checkKill refuses to end a cursor of somebody else, without the right to.
func (x *call) checkKill(id int64) error {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	m := x.client.member
	if x.client.router != nil {
		m = x.client.router.cursors[id]
	}
	if m == nil || m.cursors[id] == nil || x.mayKill(m.cursors[id]) {
		return nil
	}
	return x.unauthorized()
}

// mayList reports whether the connection's user may know of a database; with own only because of a privilege on it.
func (x *call) mayList(db string, own bool) bool {
	return !own && x.allows(account.Cluster, "listDatabases") || account.Touches(x.privileges(), db)
}

// mayKill reports whether the connection's user may end a cursor.
func (x *call) mayKill(c *cursor) bool {
	return c.user == x.userName() || x.allows(account.Cluster, "killAnyCursor") || x.allows(permission.InFull(c.ns), "killCursors")
}

// checkSessionsOfOthers refuses to kill sessions, other than some that the command names, without the right to kill any.
func (x *call) checkSessionsOfOthers(named int) error {
	if named > 0 || x.command.name != "killSessions" || x.allows(account.Cluster, "killAnySession") {
		return nil
	}
	return x.unauthorized()
}
