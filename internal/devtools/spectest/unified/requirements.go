package unified

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

type requirement struct {
	MinServerVersion string        `bson:"minServerVersion"`
	MaxServerVersion string        `bson:"maxServerVersion"`
	Topologies       []string      `bson:"topologies"`
	Serverless       string        `bson:"serverless"`
	ServerParameters bson.Raw      `bson:"serverParameters"`
	Auth             *bool         `bson:"auth"`
	AuthMechanism    string        `bson:"authMechanism"`
	CSFLE            bson.RawValue `bson:"csfle"` // a boolean or the least version of libmongocrypt
}

// Skipped is the error of a case that is not to be run here, by the file's own word.
type Skipped struct{ Reason string }

func (s *Skipped) Error() string { return "skipped: " + s.Reason }

// Admit returns Skipped if a case is not to be run against such a deployment.
func (f Facts) Admit(file *File, t *Test) error {
	if t.SkipReason != "" {
		return &Skipped{"skipReason: " + t.SkipReason}
	}
	if err := f.require(file.RunOnRequirements); err != nil {
		return err
	}
	return f.require(t.RunOnRequirements)
}

// require returns Skipped unless one of the requirements is met or there are none.
func (f Facts) require(requirements []requirement) error {
	var unmet []string
	for _, r := range requirements {
		reason, err := f.unmet(r)
		if err != nil {
			return err
		}
		if reason == "" {
			return nil
		}
		unmet = append(unmet, reason)
	}
	if unmet == nil {
		return nil
	}
	return &Skipped{"runOnRequirements: " + strings.Join(unmet, "; ")}
}

// unmet names the first condition that does not hold.
func (f Facts) unmet(r requirement) (string, error) {
	reason, err := f.versionUnmet(r)
	if reason != "" || err != nil {
		return reason, err
	}
	csfle, isBool := r.CSFLE.BooleanOK()
	mechanism := func(m string) bool { return strings.EqualFold(m, r.AuthMechanism) }
	switch {
	case r.Topologies != nil && !f.isOneOf(r.Topologies):
		return "topologies are " + strings.Join(r.Topologies, ", "), nil
	case r.Serverless == "require":
		return "serverless", nil
	case r.Auth != nil && *r.Auth != f.Auth:
		return "auth", nil
	case r.AuthMechanism != "" && !slices.ContainsFunc(f.AuthMechanisms, mechanism):
		return "authMechanism " + r.AuthMechanism, nil
	case r.CSFLE.Type != 0 && (!isBool || csfle):
		return "csfle", nil // neither client has it
	}
	return f.parameterUnmet(r), nil
}

func (f Facts) versionUnmet(r requirement) (string, error) {
	have, err := parseVersion(f.Version)
	if err != nil {
		return "", err
	}
	if r.MinServerVersion != "" {
		least, err := parseVersion(r.MinServerVersion)
		if err != nil || have.compare(least) < 0 {
			return "minServerVersion " + r.MinServerVersion, err
		}
	}
	if r.MaxServerVersion != "" {
		most, err := parseVersion(r.MaxServerVersion)
		if err != nil || have.compare(most) > 0 {
			return "maxServerVersion " + r.MaxServerVersion, err
		}
	}
	return "", nil
}

func (f Facts) isOneOf(topologies []string) bool {
	return slices.Contains(topologies, f.Topology) || f.Topology == "sharded" && slices.Contains(topologies, "sharded-replicaset")
}

func (f Facts) parameterUnmet(r requirement) string {
	elements, _ := r.ServerParameters.Elements()
	for _, e := range elements {
		if (&matcher{}).match(e.Value(), f.Parameters.Lookup(e.Key()), false) != nil {
			return "serverParameters " + e.Key()
		}
	}
	return ""
}

// Names reports whether the requirements of a case or its file name a topology.
func (f *File) Names(t *Test, topology string) bool {
	return slices.ContainsFunc(slices.Concat(f.RunOnRequirements, t.RunOnRequirements), func(r requirement) bool {
		return slices.Contains(r.Topologies, topology)
	})
}
