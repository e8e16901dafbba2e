package account

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// AppendRoleList writes an array of roles.
func AppendRoleList(dst []byte, key string, list []Role) []byte {
	return wire.AppendValue(dst, key, bson.TypeArray, EncodeRoles(list))
}

// AppendPrivileges writes an array of privileges.
func AppendPrivileges(dst []byte, key string, list []Privilege) []byte {
	at, dst := wire.BeginArray(dst, key)
	for i, p := range list {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = p.Resource.append(d)
		dst = wire.EndDocument(wire.AppendStrings(d, "actions", p.Actions), one)
	}
	return wire.EndDocument(dst, at)
}

func (r Resource) append(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "resource")
	switch {
	case r.Any:
		dst = wire.AppendBool(dst, "anyResource", true)
	case r.Cluster:
		dst = wire.AppendBool(dst, "cluster", true)
	default:
		dst = wire.AppendString(wire.AppendString(dst, "db", r.DB), "collection", r.Collection)
	}
	return wire.EndDocument(dst, at)
}

// ParsePrivileges reads an array of privileges for a role of a database. Only roles of admin may have privileges on other resources
// than their database.
func ParsePrivileges(array []byte, db string) ([]Privilege, error) {
	var list []Privilege
	for it := wire.Elements(array); it.Next(); {
		if it.Document() == nil {
			return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "Elements in privilege arrays must be objects")
		}
		p, err := parsePrivilege(it.Document())
		if err != nil {
			return nil, err
		}
		if db != "admin" && (p.Resource.DB != db || p.Resource.Any || p.Resource.Cluster) {
			return nil, mongoerr.Errorf(mongoerr.InvalidRoleModification,
				"Roles on the '%s' database cannot be granted privileges that target other databases or the cluster", db)
		}
		list = append(list, p)
	}
	return merged(list), nil
}

func parsePrivilege(doc []byte) (p Privilege, err error) {
	there := false
	for it := wire.Elements(doc); it.Next(); {
		switch string(it.Key) {
		case "resource":
			there = it.Document() != nil
			p.Resource, err = parseResource(it.Document())
		case "actions":
			p.Actions, err = parseActions(it.Array())
		}
		if err != nil {
			return p, err
		}
	}
	switch {
	case !there:
		return p, mongoerr.Errorf(mongoerr.BadValue, "BSON field 'Privilege.resource' is missing but a required field")
	case len(p.Actions) == 0:
		return p, mongoerr.Errorf(mongoerr.FailedToParse, "actions field in privilege must not be empty")
	}
	return p, nil
}

func parseResource(doc []byte) (r Resource, err error) {
	named := 0
	for it := wire.Elements(doc); it.Next(); {
		switch string(it.Key) {
		case "db":
			r.DB, named = string(it.Text()), named+1
		case "collection":
			r.Collection, named = string(it.Text()), named+1
		case "cluster":
			r.Cluster = it.True()
		case "anyResource":
			r.Any = it.True()
		default:
			return r, mongoerr.Errorf(mongoerr.UnknownField, "BSON field 'resource.%s' is an unknown field.", it.Key)
		}
	}
	if wide := r.Any || r.Cluster; wide == (named > 0) || !wide && named != 2 || r.Any && r.Cluster {
		return r, mongoerr.Errorf(mongoerr.BadValue, "resource must be {db: <database>, collection: <collection>}, {cluster: true} or {anyResource: true}")
	}
	return r, nil
}

func parseActions(array []byte) ([]string, error) {
	var names []string
	for it := wire.Elements(array); it.Next(); {
		name := string(it.Text())
		if it.Type != bson.TypeString || !isAction(name) {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Unrecognized action privilege strings: %s", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
