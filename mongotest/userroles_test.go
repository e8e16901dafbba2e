package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// https://www.mongodb.com/docs/manual/reference/command/nav-user-management/
func TestRolesOfUsers(t *testing.T) {
	const shown = `{"usersInfo": "u", "$db": "app"}`
	for _, test := range []struct{ rule, command, asked, has string }{
		{"a name is a role of the command's database", `{"updateUser": "u", "roles": ["dbAdmin"], "$db": "app"}`, shown, `"roles": [{"role": "dbAdmin","db": "app"}]`},
		{"a granted role is added", `{"grantRolesToUser": "u", "roles": [{"role": "read", "db": "other"}], "$db": "app"}`, shown, `"roles": [{"role": "readWrite","db": "app"},{"role": "read","db": "other"}]`},
		{"one that the user has stays once", `{"grantRolesToUser": "u", "roles": ["readWrite"], "$db": "app"}`, shown, `"roles": [{"role": "readWrite","db": "app"}]`},
		{"a revoked role is gone", `{"revokeRolesFromUser": "u", "roles": [{"role": "readWrite", "db": "app"}], "$db": "app"}`, shown, `"roles": []`},
		{"one of another database stays", `{"revokeRolesFromUser": "u", "roles": [{"role": "readWrite", "db": "other"}], "$db": "app"}`, shown, `"roles": [{"role": "readWrite","db": "app"}]`},
		{"all users of a database are dropped", `{"dropAllUsersFromDatabase": 1, "$db": "app"}`, shown, `"users": []`},
		{"and not those of others", `{"dropAllUsersFromDatabase": 1, "$db": "app"}`, `{"usersInfo": "root", "$db": "admin"}`, `"user": "root"`},
		{"their number is told", `{"ping": 1, "$db": "app"}`, `{"dropAllUsersFromDatabase": 1, "$db": "app"}`, `"n": {"$numberInt":"1"}`},
		{"", `{"ping": 1, "$db": "app"}`, `{"dropAllUsersFromDatabase": 1, "$db": "none"}`, `"n": {"$numberInt":"0"}`},
		{"the user must exist", `{"ping": 1, "$db": "app"}`, `{"grantRolesToUser": "x", "roles": ["read"], "$db": "app"}`, `"codeName": "UserNotFound"`},
		{"roles are required", `{"ping": 1, "$db": "app"}`, `{"revokeRolesFromUser": "u", "$db": "app"}`, `BSON field 'revokeRolesFromUser.roles' is missing but a required field`},
		{"there must be one", `{"ping": 1, "$db": "app"}`, `{"grantRolesToUser": "u", "roles": [], "$db": "app"}`, `requires a non-empty`},
		{"a role has a database", `{"ping": 1, "$db": "app"}`, `{"grantRolesToUser": "u", "roles": [{"role": "read"}], "$db": "app"}`, `Missing expected field \"db\"`},
		{"a role is a name or an object", `{"ping": 1, "$db": "app"}`, `{"grantRolesToUser": "u", "roles": [1], "$db": "app"}`, `Role names must be either strings or objects`},
		{"a field that no such command has", `{"ping": 1, "$db": "app"}`, `{"grantRolesToUser": "u", "role": 1, "$db": "app"}`, `BSON field 'grantRolesToUser.role' is an unknown field`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
			c := dial(t, rs, 0)
			c.ok(`{"createUser": "root", "pwd": "x", "roles": ["root"], "$db": "admin"}`)
			c.ok(`{"createUser": "u", "pwd": "x", "roles": ["readWrite"], "$db": "app"}`)
			c.ok("%s", test.command)
			if got := c.run("%s", test.asked).String(); !strings.Contains(got, test.has) {
				t.Errorf("%s, then %s\ngot  %s\nwant %s", test.command, test.asked, got, test.has)
			}
		})
	}
}
