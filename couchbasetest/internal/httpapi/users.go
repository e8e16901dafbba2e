package httpapi

import (
	"net/http"
)

func whoami(x *exchange) {
	if x.user.Name == "" {
		x.json(http.StatusOK, map[string]any{"id": "", "domain": "anonymous", "roles": []any{}})
		return
	}
	x.json(http.StatusOK, userFields(&x.user))
}

// userFields describes a user.
func userFields(u *User) map[string]any {
	roles := []any{}
	for _, r := range u.Roles {
		role := map[string]any{"role": r.Name, "origins": []any{map[string]string{"type": "user"}}}
		for name, value := range map[string]string{"bucket_name": r.Bucket, "scope_name": r.Scope, "collection_name": r.Collection} {
			if value != "" {
				role[name] = value
			}
		}
		roles = append(roles, role)
	}
	return map[string]any{
		"id": u.Name, "domain": "local", "name": u.FullName, "roles": roles, "groups": []string{}, "external_groups": []string{},
	}
}

func listUsers(x *exchange) {
	all := []any{}
	if domain := x.r.PathValue("domain"); domain == "" || domain == "local" {
		for _, u := range x.s.cluster.Users() {
			all = append(all, userFields(&u))
		}
	}
	x.json(http.StatusOK, all)
}

func getUser(x *exchange) {
	for _, u := range x.s.cluster.Users() {
		if u.Name == x.r.PathValue("user") && x.r.PathValue("domain") == "local" {
			x.json(http.StatusOK, userFields(&u))
			return
		}
	}
	x.json(http.StatusNotFound, "Unknown user.")
}

// roleNames is the roles that the service lists, with whether a role is for one bucket.
var roleNames = []struct {
	name, title string
	bucket      bool
}{
	{"admin", "Full Admin", false},
	{"ro_admin", "Read-Only Admin", false},
	{"cluster_admin", "Cluster Admin", false},
	{"bucket_admin", "Bucket Admin", true},
	{"bucket_full_access", "Application Access", true},
	{"data_reader", "Data Reader", true},
	{"data_writer", "Data Writer", true},
	{"query_select", "Query Select", true},
	{"query_manage_index", "Query Manage Index", true},
	{"fts_searcher", "Search Reader", true},
	{"analytics_reader", "Analytics Reader", false},
	{"views_reader", "Views Reader", true},
}

func listRoles(x *exchange) {
	all := []any{}
	for _, r := range roleNames {
		role := map[string]string{"role": r.name, "name": r.title, "desc": r.title + "."}
		if r.bucket {
			role["bucket_name"] = "*"
		}
		all = append(all, role)
	}
	x.json(http.StatusOK, all)
}

func listGroups(x *exchange) { x.json(http.StatusOK, []any{}) }

func getGroup(x *exchange) { x.json(http.StatusNotFound, "Unknown group.") }

// usersUnwritten answers a request that changes users, groups or passwords.
func usersUnwritten(x *exchange) {
	x.invalid(http.StatusBadRequest, map[string]string{
		"_": "couchbasetest cannot change users over HTTP; the users of a cluster are options of the test",
	})
}
