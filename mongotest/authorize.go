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
func (x *exec) controlled() bool { return x.conn.deployment.guarded.Load() && !x.conn.direct }

// authorize refuses a command that the connection's user may not run.
func (x *exec) authorize() error {
	c := &x.command
	if !x.controlled() || c.spec.greeting || c.spec.open && x.conn.user == nil {
		return nil
	}
	if x.findRights(); x.conn.user == nil {
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
func (x *exec) permission() *permission.Command {
	return &permission.Command{
		Name: x.command.name, DB: x.command.db, Body: x.command.raw, User: x.conn.user.Name, UserDB: x.conn.user.DB,
		Roles: x.conn.privileges.roles, Privileges: x.conn.privileges.privileges,
		Documents: func(field string) [][]byte {
			docs, _ := x.documents(field) // the command tells the error
			return docs
		},
	}
}

func (x *exec) unauthorized() error {
	return mongoerr.Errorf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", x.command.db,
		query.DocumentText(permission.WithoutPassword(x.command.raw)))
}

// findRights looks up what the connection's user may do, if that may have changed. Who is no user any more is nobody.
func (x *exec) findRights() {
	c, rs := x.conn, x.conn.deployment
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
func (x *exec) privileges() []account.Privilege {
	if !x.controlled() {
		return everything
	}
	return x.conn.privileges.privileges
}

var everything = []account.Privilege{{Resource: account.Resource{Any: true}, Actions: []string{"anyAction"}}}

// allows reports whether the connection's user may do all actions on a resource.
func (x *exec) allows(on account.Resource, actions ...string) bool {
	return account.Allows(x.privileges(), on, actions...)
}

// userName is the name of the connection's user, "" where there is no access control.
func (x *exec) userName() string {
	if !x.controlled() || x.conn.user == nil {
		return ""
	}
	return x.conn.user.FullName()
}

// checkKill refuses to end a cursor of somebody else, without the right to.
func (x *exec) checkKill(id int64) error {
	x.conn.set.Lock()
	defer x.conn.set.Unlock()
	m := x.conn.member
	if x.conn.mongos != nil {
		m = x.conn.mongos.cursors[id]
	}
	if m == nil || m.cursors[id] == nil || x.mayKill(m.cursors[id]) {
		return nil
	}
	return x.unauthorized()
}

// mayList reports whether the connection's user may know of a database; with own only because of a privilege on it.
func (x *exec) mayList(db string, own bool) bool {
	return !own && x.allows(account.Cluster, "listDatabases") || account.Touches(x.privileges(), db)
}

// mayKill reports whether the connection's user may end a cursor.
func (x *exec) mayKill(c *cursor) bool {
	return c.user == x.userName() || x.allows(account.Cluster, "killAnyCursor") || x.allows(permission.InFull(c.ns), "killCursors")
}

// checkSessionsOfOthers refuses to kill sessions, other than some that the command names, without the right to kill any.
func (x *exec) checkSessionsOfOthers(named int) error {
	if named > 0 || x.command.name != "killSessions" || x.allows(account.Cluster, "killAnySession") {
		return nil
	}
	return x.unauthorized()
}
