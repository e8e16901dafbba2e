package account

import (
	"cmp"
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Definition is a role that somebody has created. It never changes: another one takes its place.
type Definition struct {
	Role
	Privileges []Privilege
	Roles      []Role // that it inherits
}

// Roles are the roles that there are: the built-in ones, and those that somebody has created. The zero value has only the former.
type Roles struct{ created map[Role]*Definition }

// Find returns a role, nil if there is none.
func (rs *Roles) Find(r Role) *Definition {
	if b, ok := builtins[r.Name]; ok && (b.everywhere || r.DB == "admin") {
		return &Definition{Role: r, Privileges: merged(b.privileges(r.DB))}
	}
	return rs.created[r]
}

// Builtin reports whether every server has the role.
func Builtin(r Role) bool { return slices.Contains(builtinsOf(r.DB), r.Name) }

// Check returns the error that one of some roles is not there, nil if all are.
func (rs *Roles) Check(list []Role) error {
	for _, r := range list {
		if rs.Find(r) == nil {
			return mongoerr.Errorf(mongoerr.RoleNotFound, "Could not find role: %s", r)
		}
	}
	return nil
}

// Modifiable returns a role that somebody has created, or the error that there is none.
func (rs *Roles) Modifiable(r Role) (*Definition, error) {
	switch d := rs.created[r]; {
	case Builtin(r):
		return nil, mongoerr.Errorf(mongoerr.InvalidRoleModification, "%s is a built-in role and cannot be modified", r)
	case d == nil:
		return nil, mongoerr.Errorf(mongoerr.RoleNotFound, "Could not find role: %s", r)
	default:
		return d, nil
	}
}

// Put adds a role, or replaces the one with its name. It refuses a role that would inherit itself.
func (rs *Roles) Put(d *Definition) error {
	if err := rs.Check(d.Roles); err != nil {
		return err
	}
	for _, r := range d.Roles {
		if inherited := append(rs.Inherited([]Role{r}), r); slices.Contains(inherited, d.Role) {
			return mongoerr.Errorf(mongoerr.InvalidRoleModification, "Granting %s to %s would introduce a cycle in the role graph.", r, d.Role)
		}
	}
	if rs.created == nil {
		rs.created = make(map[Role]*Definition)
	}
	rs.created[d.Role] = d
	return nil
}

// Drop removes a role, also from the roles that inherit it.
func (rs *Roles) Drop(r Role) {
	delete(rs.created, r)
	for key, d := range rs.created {
		if slices.Contains(d.Roles, r) {
			changed := *d
			changed.Roles = slices.DeleteFunc(slices.Clone(d.Roles), func(other Role) bool { return other == r })
			rs.created[key] = &changed
		}
	}
}

// Of returns the roles of a database, in order; all with "".
func (rs *Roles) Of(db string, builtin bool) []Role {
	var list []Role
	for r := range rs.created {
		if db == "" || r.DB == db {
			list = append(list, r)
		}
	}
	if builtin {
		for _, name := range builtinsOf(db) {
			list = append(list, Role{name, db})
		}
	}
	slices.SortFunc(list, func(a, b Role) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Name, b.Name)) })
	return list
}

// Inherited returns the roles that roles inherit, directly or through others, and not those themselves.
func (rs *Roles) Inherited(list []Role) []Role {
	known := make(map[Role]bool)
	var visit func(list []Role)
	visit = func(list []Role) {
		for _, r := range list {
			d := rs.Find(r)
			if d == nil {
				continue
			}
			for _, inner := range d.Roles {
				if !known[inner] {
					known[inner] = true
					visit([]Role{inner})
				}
			}
		}
	}
	visit(list)
	return slices.SortedFunc(maps.Keys(known), func(a, b Role) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Name, b.Name)) })
}

// Privileges returns what roles may do, with what they inherit.
func (rs *Roles) Privileges(list []Role) []Privilege {
	var all []Privilege
	for _, r := range append(slices.Clone(list), rs.Inherited(list)...) {
		if d := rs.Find(r); d != nil {
			all = append(all, d.Privileges...)
		}
	}
	return merged(all)
}

// String returns "name@database", as errors have it.
func (r Role) String() string { return r.Name + "@" + r.DB }

// AppendInfo writes a role as rolesInfo has it.
func (rs *Roles) AppendInfo(dst []byte, key string, r Role, privileges bool) []byte {
	d := rs.Find(r)
	at, dst := wire.BeginEmbedded(dst, key)
	if !Builtin(r) {
		dst = wire.AppendString(dst, "_id", r.DB+"."+r.Name)
	}
	dst = wire.AppendString(wire.AppendString(dst, "role", r.Name), "db", r.DB)
	if privileges {
		dst = AppendPrivileges(dst, "privileges", d.Privileges)
	}
	dst = AppendRoleList(dst, "roles", d.Roles)
	dst = AppendRoleList(dst, "inheritedRoles", rs.Inherited([]Role{r}))
	if privileges {
		dst = AppendPrivileges(dst, "inheritedPrivileges", rs.Privileges([]Role{r}))
	}
	dst = wire.AppendBool(dst, "isBuiltin", Builtin(r))
	return wire.EndDocument(dst, at)
}
