package account

import (
	"slices"
	"strings"
)

// https://www.mongodb.com/docs/manual/reference/resource-document/

// Resource is what an action is on, or a pattern of such. As a pattern an empty DB stands for every database but local and config, and an
// empty Collection for every collection whose name does not begin with "system.".
type Resource struct {
	DB, Collection string
	Cluster        bool // the deployment as a whole
	Any            bool // whatever there is
}

// Cluster is the deployment as a whole.
var Cluster = Resource{Cluster: true}

// Privilege is the right to do some actions on some resources.
type Privilege struct {
	Resource Resource
	Actions  []string
}

// anyAction stands for every action.
const anyAction = "anyAction"

// covers reports whether a pattern stands for a resource.
func (r Resource) covers(target Resource) bool {
	switch {
	case r.Any:
		return true
	case r.Cluster || target.Cluster:
		return r.Cluster && target.Cluster
	case r.DB != target.DB && (r.DB != "" || r.Collection == "" && (target.DB == "local" || target.DB == "config")):
		return false
	case r.Collection == target.Collection:
		return true
	}
	return r.Collection == "" && !strings.HasPrefix(target.Collection, "system.")
}

// Allows reports whether privileges give the right to do all actions on a resource.
func Allows(list []Privilege, on Resource, actions ...string) bool {
	for _, action := range actions {
		if !slices.ContainsFunc(list, func(p Privilege) bool {
			return p.Resource.covers(on) && (slices.Contains(p.Actions, action) || slices.Contains(p.Actions, anyAction))
		}) {
			return false
		}
	}
	return true
}

// Touches reports whether there is a privilege on a database or on something in it.
func Touches(list []Privilege, db string) bool {
	return slices.ContainsFunc(list, func(p Privilege) bool {
		return p.Resource.Any || !p.Resource.Cluster && (p.Resource.DB == db || p.Resource.covers(Resource{DB: db}))
	})
}

// merged returns privileges with one entry for each resource, its actions in order.
func merged(list []Privilege) []Privilege {
	var all []Privilege
	for _, p := range list {
		i := slices.IndexFunc(all, func(other Privilege) bool { return other.Resource == p.Resource })
		if i < 0 {
			i = len(all)
			all = append(all, Privilege{Resource: p.Resource})
		}
		all[i].Actions = append(all[i].Actions, p.Actions...)
	}
	for i := range all {
		slices.Sort(all[i].Actions)
		all[i].Actions = slices.Compact(all[i].Actions)
	}
	return all
}

// Without returns privileges less the actions of others on the same resources.
func Without(list, others []Privilege) []Privilege {
	var rest []Privilege
	for _, p := range merged(list) {
		for _, other := range others {
			if other.Resource == p.Resource {
				p.Actions = slices.DeleteFunc(p.Actions, func(a string) bool { return slices.Contains(other.Actions, a) })
			}
		}
		if len(p.Actions) > 0 {
			rest = append(rest, p)
		}
	}
	return rest
}

// With returns privileges and others besides.
func With(list, others []Privilege) []Privilege { return merged(slices.Concat(list, others)) }
