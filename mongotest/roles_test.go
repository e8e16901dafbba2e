package mongotest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// roleProbe returns a command by its short name. A name with "@" is of that database, any other of app.
func roleProbe(t *testing.T, name string) string {
	t.Helper()
	what, db, found := strings.Cut(name, "@")
	if !found {
		db = "app"
	}
	probes := map[string]string{
		"find":             `{"find": "c", "limit": 1, "$db": "DB"}`,
		"watch":            `{"aggregate": 1, "pipeline": [{"$changeStream": {}}], "cursor": {"batchSize": 0}, "$db": "DB"}`,
		"insert":           `{"insert": "c", "documents": [{}], "$db": "DB"}`,
		"update":           `{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}], "$db": "DB"}`,
		"remove":           `{"delete": "c", "deletes": [{"q": {"x": 1}, "limit": 1}], "$db": "DB"}`,
		"unchecked":        `{"insert": "c", "documents": [{}], "bypassDocumentValidation": true, "$db": "DB"}`,
		"index":            `{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}], "$db": "DB"}`,
		"drop":             `{"drop": "none", "$db": "DB"}`,
		"dropDatabase":     `{"dropDatabase": 1, "$db": "NONE"}`,
		"collMod":          `{"collMod": "c", "validator": {}, "$db": "DB"}`,
		"collStats":        `{"collStats": "c", "$db": "DB"}`,
		"indexStats":       `{"aggregate": "c", "pipeline": [{"$indexStats": {}}], "cursor": {}, "$db": "DB"}`,
		"validate":         `{"validate": "c", "$db": "DB"}`,
		"profile":          `{"profile": 0, "$db": "DB"}`,
		"collections":      `{"listCollections": 1, "$db": "DB"}`,
		"js":               `{"insert": "system.js", "documents": [{"_id": "f", "value": 1}], "$db": "DB"}`,
		"createUser":       `{"createUser": "n", "pwd": "x", "roles": ["none"], "$db": "DB"}`,
		"viewUser":         `{"usersInfo": 1, "$db": "DB"}`,
		"setRoles":         `{"updateUser": "none", "roles": ["read"], "$db": "DB"}`,
		"readUsers":        `{"find": "system.users", "$db": "admin"}`,
		"databases":        `{"listDatabases": 1, "authorizedDatabases": false, "$db": "admin"}`,
		"serverStatus":     `{"serverStatus": 1, "$db": "admin"}`,
		"currentOp":        `{"currentOp": 1, "$db": "admin"}`,
		"replSetGetStatus": `{"replSetGetStatus": 1, "$db": "admin"}`,
		"replSetReconfig":  `{"replSetReconfig": {}, "$db": "admin"}`,
		"setDefaults":      `{"setDefaultRWConcern": 1, "$db": "admin"}`,
		"note":             `{"appendOplogNote": 1, "data": {}, "$db": "admin"}`,
		"killOp":           `{"killOp": 1, "op": 1, "$db": "admin"}`,
		"killSessions":     `{"killSessions": [], "$db": "admin"}`,
		"setParameter":     `{"setParameter": 1, "logLevel": 0, "$db": "admin"}`,
		"getParameter":     `{"getParameter": 1, "logLevel": 1, "$db": "admin"}`,
		"fsync":            `{"fsync": 1, "$db": "admin"}`,
		"settings":         `{"update": "settings", "updates": [{"q": {"x": 1}, "u": {"$set": {"x": 1}}}], "$db": "config"}`,
	}
	command := probes[what]
	if command == "" {
		t.Fatalf("there is no probe %s", name)
	}
	return strings.NewReplacer("DB", db, "NONE", "none").Replace(command)
}

// https://www.mongodb.com/docs/manual/reference/built-in-roles/
func TestBuiltInRoles(t *testing.T) {
	const (
		read    = " find watch collStats collections"
		write   = " insert update remove index drop js"
		admin   = " unchecked? index drop dropDatabase? collMod collStats validate profile collections"
		users   = " createUser viewUser"
		monitor = " collStats indexStats databases serverStatus currentOp replSetGetStatus getParameter find@local find@config collections@config collections@local"
		manager = " replSetGetStatus replSetReconfig setDefaults note find@config settings"
		host    = " killOp killSessions setParameter fsync"
		backup  = " find find@local find@config readUsers collStats collections collections@local databases serverStatus getParameter note"
		restore = " insert index drop collMod js createUser viewUser setRoles readUsers collections collections@local getParameter insert@local unchecked"
	)
	all := read + write + " find@other watch@other insert@other insert@local find@local find@config unchecked dropDatabase collMod indexStats validate profile createUser viewUser " +
		"viewUser@other setRoles readUsers databases serverStatus currentOp replSetGetStatus replSetReconfig setDefaults note killOp killSessions " +
		"setParameter getParameter fsync settings collections@config collections@local insert@config dropDatabase@other"
	anyAdmin := strings.NewReplacer("unchecked?", "", "dropDatabase?", "dropDatabase").Replace(admin)
	for _, test := range []struct{ role, db, may string }{
		{"read", "app", read},
		{"readWrite", "app", read + write},
		{"dbAdmin", "app", strings.NewReplacer("unchecked?", "", "dropDatabase?", "").Replace(admin)},
		{"userAdmin", "app", users},
		{"dbOwner", "app", read + write + users + strings.ReplaceAll(anyAdmin, "dropDatabase", "") + " unchecked"},
		{"readAnyDatabase", "admin", read + " databases find@other watch@other"},
		{"readWriteAnyDatabase", "admin", read + write + " databases find@other watch@other insert@other"},
		{"dbAdminAnyDatabase", "admin", anyAdmin + " databases dropDatabase@other"},
		{"userAdminAnyDatabase", "admin", users + " viewUser@other setRoles readUsers databases"},
		{"clusterMonitor", "admin", monitor},
		{"clusterManager", "admin", manager + " find@local insert@config insert@local collections@config collections@local"},
		{"hostManager", "admin", host},
		{"clusterAdmin", "admin", monitor + manager + host + " dropDatabase dropDatabase@other insert@config insert@local collections@local"},
		{"backup", "admin", backup + " settings collections@config find@other"},
		{"restore", "admin", restore + " insert@other insert@config collections@config viewUser@other"},
		{"root", "admin", all},
	} {
		t.Run(test.role, func(t *testing.T) {
			root, u := guardedSet(t, replicaSet(t))
			root.ok(`{"updateUser": "u", "roles": [{"role": "%s", "db": "%s"}], "$db": "$external"}`, test.role, test.db)
			may := make(map[string]bool)
			for name := range strings.FieldsSeq(test.may) {
				may[name] = true
			}
			for name := range strings.FieldsSeq(all) {
				if got := !refused(u.run("%s", roleProbe(t, name))); got != may[name] {
					t.Errorf("%s: permitted is %t", name, got)
				}
			}
		})
	}
}

func TestRolesThatSomebodyCreates(t *testing.T) {
	root, u := guardedSet(t, replicaSet(t))
	root.ok(`{"createRole": "finder", "privileges": [{"resource": {"db": "app", "collection": "c"}, "actions": ["find"]}], "roles": [], "$db": "app"}`)
	root.ok(`{"updateRole": "r", "roles": [{"role": "finder", "db": "app"}], "$db": "admin"}`)
	root.ok(`{"updateUser": "u", "roles": [{"role": "r", "db": "admin"}], "$db": "$external"}`)
	may := func(command string, want bool) {
		t.Helper()
		if reply := u.run("%s", command); refused(reply) == want {
			t.Errorf("%s: %s", command, reply)
		}
	}
	const find, count = `{"find": "c", "$db": "app"}`, `{"collStats": "c", "$db": "app"}`
	may(find, true) // by a role that the user's role has
	may(count, false)
	root.ok(`{"grantPrivilegesToRole": "finder", "privileges": [{"resource": {"db": "app", "collection": ""}, "actions": ["collStats"]}], "$db": "app"}`)
	may(count, true)
	root.ok(`{"revokePrivilegesFromRole": "finder", "privileges": [{"resource": {"db": "app", "collection": ""}, "actions": ["collStats"]}], "$db": "app"}`)
	may(count, false)
	root.ok(`{"grantRolesToRole": "finder", "roles": ["dbAdmin"], "$db": "app"}`)
	may(count, true)
	root.ok(`{"revokeRolesFromRole": "finder", "roles": ["dbAdmin"], "$db": "app"}`)
	may(count, false)
	root.ok(`{"dropRole": "finder", "$db": "app"}`)
	may(find, false)
	root.ok(`{"grantRolesToUser": "u", "roles": [{"role": "readWrite", "db": "app"}], "$db": "$external"}`)
	may(find, true)
	if n := number(root.ok(`{"dropAllRolesFromDatabase": 1, "$db": "admin"}`), "n"); n != 1 {
		t.Errorf("%d roles were dropped", n)
	}
	may(find, true) // by the built-in one
	root.ok(`{"dropUser": "u", "$db": "$external"}`)
	if reply := u.run(find); number(reply, "code") != 13 || !strings.Contains(reply.String(), "Command find requires authentication") {
		t.Errorf("a user that was dropped gets %s", reply)
	}
}

func TestARefusalShowsTheCommandWithoutThePassword(t *testing.T) {
	_, u := guardedSet(t, replicaSet(t))
	for command, want := range map[string]string{
		`{"find": "c", "filter": {"a": 1}, "$db": "app"}`:                 `not authorized on app to execute command { find: \"c\", filter: { a: 1 }, $db: \"app\" }`,
		`{"createUser": "n", "pwd": "secret", "roles": [], "$db": "app"}`: `not authorized on app to execute command { createUser: \"n\", pwd: \"xxx\", roles: [], $db: \"app\" }`,
	} {
		if got := u.run("%s", command).String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

func TestCommandsOnRoles(t *testing.T) {
	const find = `{"resource": {"db": "app", "collection": "c"}, "actions": ["find"]}`
	for _, test := range []struct{ rule, command, want string }{
		{"a role is shown", `{"rolesInfo": "r", "$db": "app"}`, `"roles": [{"_id": "app.r","role": "r","db": "app","roles": [{"role": "read","db": "app"}],"inheritedRoles": [{"role": "read","db": "app"}],"isBuiltin": false}]`},
		{"with its privileges", `{"rolesInfo": {"role": "r", "db": "app"}, "showPrivileges": true, "$db": "admin"}`, `"privileges": [{"resource": {"db": "app","collection": "c"},"actions": ["find"]}],"roles"`},
		{"and those that it inherits", `{"rolesInfo": ["r"], "showPrivileges": true, "$db": "app"}`, `"inheritedPrivileges": [{"resource": {"db": "app","collection": "c"},"actions": ["find"]},{"resource": {"db": "app","collection": ""},"actions": ["changeStream",`},
		{"a database has the roles that were created", `{"rolesInfo": 1, "$db": "app"}`, `"roles": [{"_id": "app.r","role": "r","db": "app","roles": [{"role": "read","db": "app"}],"inheritedRoles": [{"role": "read","db": "app"}],"isBuiltin": false}],"ok"`},
		{"and the built-in ones", `{"rolesInfo": 1, "showBuiltinRoles": true, "$db": "none"}`, `"roles": [{"role": "dbAdmin","db": "none","roles": [],"inheritedRoles": [],"isBuiltin": true},{"role": "dbOwner"`},
		{"a role that there is not", `{"rolesInfo": "none", "$db": "app"}`, `"roles": []`},
		{"its name is taken", `{"createRole": "r", "privileges": [], "roles": [], "$db": "app"}`, `"errmsg": "Role \"r@app\" already exists","code": {"$numberInt":"51002"}`},
		{"the built-in names too", `{"createRole": "read", "privileges": [], "roles": [], "$db": "app"}`, `same name as a built-in role`},
		{"both arrays are required", `{"createRole": "n", "roles": [], "$db": "app"}`, `BSON field 'createRole.privileges' is missing but a required field`},
		{"inherited roles must exist", `{"createRole": "n", "privileges": [], "roles": ["none"], "$db": "app"}`, `"errmsg": "Could not find role: none@app","code": {"$numberInt":"31"}`},
		{"roles of a user must exist", `{"createUser": "n", "pwd": "x", "roles": ["none"], "$db": "app"}`, `Could not find role: none@app`},
		{"granted ones too", `{"grantRolesToUser": "n", "roles": ["none"], "$db": "app"}`, `Could not find role: none@app`},
		{"only admin reaches further", `{"createRole": "n", "privileges": [{"resource": {"cluster": true}, "actions": ["inprog"]}], "roles": [], "$db": "app"}`, `"codeName": "InvalidRoleModification"`},
		{"a built-in role does not change", `{"updateRole": "read", "roles": [], "$db": "app"}`, `read@app is a built-in role and cannot be modified`},
		{"nor is it dropped", `{"dropRole": "read", "$db": "app"}`, `cannot be modified`},
		{"no role inherits itself", `{"grantRolesToRole": "r", "roles": ["r"], "$db": "app"}`, `Granting r@app to r@app would introduce a cycle in the role graph.`},
		{"an update has something", `{"updateRole": "r", "$db": "app"}`, `Must specify at least one field to update in updateRole`},
		{"a grant has something", `{"grantPrivilegesToRole": "r", "privileges": [], "$db": "app"}`, `requires a non-empty`},
		{"the role must exist", `{"grantPrivilegesToRole": "none", "privileges": [` + find + `], "$db": "app"}`, `"codeName": "RoleNotFound"`},
		{"an action is known", `{"createRole": "n", "privileges": [{"resource": {"db": "app", "collection": ""}, "actions": ["fly"]}], "roles": [], "$db": "app"}`, `Unrecognized action privilege strings: fly`},
		{"a resource is whole", `{"createRole": "n", "privileges": [{"resource": {"db": "app"}, "actions": ["find"]}], "roles": [], "$db": "app"}`, `"codeName": "BadValue"`},
		{"a role's name is a text", `{"dropRole": 1, "$db": "app"}`, `"codeName": "TypeMismatch"`},
		{"a field that no such command has", `{"dropRole": "r", "x": 1, "$db": "app"}`, `BSON field 'dropRole.x' is an unknown field`},
		{"a connection has its user's roles", `{"connectionStatus": 1, "$db": "admin"}`, `"authenticatedUserRoles": []}`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
			c.ok(`{"createRole": "r", "privileges": [%s], "roles": ["read"], "$db": "app"}`, find)
			if got := c.run("%s", test.command).String(); !strings.Contains(got, test.want) {
				t.Errorf("%s\ngot  %s\nwant %s", test.command, got, test.want)
			}
		})
	}
}

func TestConnectionStatusShowsPrivileges(t *testing.T) {
	root, u := guardedSet(t, replicaSet(t))
	root.ok(`{"createRole": "inner", "privileges": [{"resource": {"db": "app", "collection": "c"}, "actions": ["find", "insert"]}], "roles": [], "$db": "app"}`)
	root.ok(`{"updateRole": "r", "roles": [{"role": "inner", "db": "app"}], "$db": "admin"}`)
	root.ok(`{"updateUser": "u", "roles": [{"role": "r", "db": "admin"}], "$db": "$external"}`)
	got := u.ok(`{"connectionStatus": 1, "showPrivileges": true, "$db": "admin"}`).Lookup("authInfo").String()
	want := `{"authenticatedUsers": [{"user": "u","db": "$external"}],"authenticatedUserRoles": [{"role": "r","db": "admin"},{"role": "inner","db": "app"}],` +
		`"authenticatedUserPrivileges": [{"resource": {"db": "app","collection": "c"},"actions": ["find","insert"]}]}`
	if got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}

func TestListsHaveOnlyWhatAUserMayKnow(t *testing.T) {
	root, u := guardedSet(t, replicaSet(t))
	root.ok(`{"insert": "d", "documents": [{}], "$db": "app"}`)
	root.ok(`{"insert": "c", "documents": [{}], "$db": "other"}`)
	root.ok(`{"updateRole": "r", "privileges": [%s], "$db": "admin"}`, on("app.c", "find"))
	root.ok(`{"updateUser": "u", "roles": [{"role": "r", "db": "admin"}], "$db": "$external"}`)
	for command, want := range map[string]string{
		`{"listDatabases": 1, "nameOnly": true, "$db": "admin"}`:                                `"databases": [{"name": "app"}]`,
		`{"listCollections": 1, "nameOnly": true, "authorizedCollections": true, "$db": "app"}`: `"firstBatch": [{"name": "c","type": "collection"}]`,
	} {
		if got := u.ok("%s", command).String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

func TestACursorIsItsUsers(t *testing.T) {
	root, u := guardedSet(t, replicaSet(t))
	root.ok(`{"updateUser": "u", "roles": [{"role": "read", "db": "app"}], "$db": "$external"}`)
	id := number(root.ok(`{"find": "c", "batchSize": 1, "$db": "app"}`), "cursor", "id")
	getMore := fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "app"}`, id)
	if reply := u.run("%s", getMore); number(reply, "code") != 13 || !strings.Contains(reply.String(), "was not created by the authenticated user") {
		t.Errorf("another user gets %s", reply)
	}
	kill := fmt.Sprintf(`{"killCursors": "c", "cursors": [{"$numberLong": "%d"}], "$db": "app"}`, id)
	root.ok(`{"updateUser": "u", "roles": [{"role": "read", "db": "other"}], "$db": "$external"}`)
	if reply := u.run("%s", kill); !refused(reply) {
		t.Errorf("without the right the cursor is killed: %s", reply)
	}
	root.ok(`{"updateUser": "u", "roles": [{"role": "read", "db": "app"}], "$db": "$external"}`)
	if reply := u.ok("%s", kill); number(reply, "cursorsKilled", "0") != id {
		t.Errorf("with the right it is not: %s", reply)
	}
}
