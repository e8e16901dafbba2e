package version

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Version is the version of the real server that this one behaves like.
type Version struct{ Major, Minor, Patch int32 }

// Newest is what a server is unless it is told otherwise.
var Newest = Of(7, 0, 25)

// Of returns a version by its three numbers.
func Of(major, minor, patch int32) Version { return Version{major, minor, patch} }

// release is a version that a server can be, in its last patch, with its highest wire version.
type release struct {
	Version
	wire int32
}

var releases = []release{
	{Of(3, 6, 23), 6},
	{Of(4, 0, 28), 7},
	{Of(4, 2, 25), 8},
	{Of(4, 4, 29), 9},
	{Of(5, 0, 31), 13},
	{Of(6, 0, 26), 17},
	{Newest, 21},
	{Of(8, 0, 15), 25},
	{Of(9, 0, 0), 29},
}

// Parse reads "major.minor" or "major.minor.patch" of a known release.
func Parse(s string) (Version, error) {
	var v Version
	parts := strings.Split(s, ".")
	fields := []*int32{&v.Major, &v.Minor, &v.Patch}
	if len(parts) < 2 || len(parts) > len(fields) {
		return v, fmt.Errorf("mongotest: Version: %q is not of the form 7.0 or 7.0.0", s)
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return v, fmt.Errorf("mongotest: Version: %q is not of the form 7.0 or 7.0.0", s)
		}
		*fields[i] = int32(n)
	}
	r := v.release()
	if r == nil {
		return v, fmt.Errorf("mongotest: Version: %q is not known; 3.6, 4.0, 4.2, 4.4, 5.0, 6.0, 7.0, 8.0 and 9.0 are", s)
	}
	if len(parts) == 2 {
		v = r.Version
	}
	return v, nil
}

// release returns the release that a version is of, nil if it is not known.
func (v Version) release() *release {
	i := slices.IndexFunc(releases, func(r release) bool { return r.Major == v.Major && r.Minor == v.Minor })
	if i < 0 {
		return nil
	}
	return &releases[i]
}

// WireVersion returns the highest wire version of a known version.
func (v Version) WireVersion() int32 { return v.release().wire }

// AtLeast reports whether v is that version or a newer one.
func (v Version) AtLeast(major, minor int32) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// String returns "major.minor.patch".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Feature returns the version by which data files are compatible, "major.minor".
func (v Version) Feature() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// HasTopologyVersion reports whether there is topologyVersion, and with it awaitable and streamed hellos.
func (v Version) HasTopologyVersion() bool { return v.AtLeast(4, 4) }

// LabelsErrors reports whether the server puts labels on errors.
func (v Version) LabelsErrors() bool { return v.AtLeast(4, 4) }

// HasHedges reports whether a read preference may ask for hedged reads.
func (v Version) HasHedges() bool { return v.AtLeast(4, 4) }

// TellsMoves reports whether change streams tell how the documents of a collection go to another database.
func (v Version) TellsMoves() bool { return v.AtLeast(6, 0) }

// TellsPosition reports whether each batch of a change stream has the resume token behind which it stands.
func (v Version) TellsPosition() bool { return v.Has(Of(4, 0, 7)) }

// HashesOplog reports whether the entries of the oplog have a hash.
func (v Version) HashesOplog() bool { return !v.AtLeast(4, 2) }

// TellsCuts reports whether change streams tell how arrays were truncated.
func (v Version) TellsCuts() bool { return v.AtLeast(5, 0) }

// HasImages reports whether change streams have the time, documents before and after, and more kinds of events.
func (v Version) HasImages() bool { return v.AtLeast(6, 0) }

// SelectsFirst reports whether the $match stages of a change stream come before the search for the token behind which it resumes.
func (v Version) SelectsFirst() bool { return v.AtLeast(6, 0) }

// NamesType reports whether the event of a creation has the type of the namespace: nsType.
func (v Version) NamesType() bool { return v.AtLeast(8, 1) }

// NeedsIndexesToDrop reports whether dropIndexes refuses indexes that are not there.
func (v Version) NeedsIndexesToDrop() bool { return !v.AtLeast(9, 0) }

// TellsDropped reports whether the reply to dropDatabase has the name of the database.
func (v Version) TellsDropped() bool { return !v.AtLeast(9, 0) }

// ShowsSimpleCollation reports whether the simple collation of an index is shown.
func (v Version) ShowsSimpleCollation() bool { return v.AtLeast(9, 0) }

// StoresDollars reports whether documents may have fields whose names begin with a dollar, which came with 5.0.
func (v Version) StoresDollars() bool { return v.AtLeast(5, 0) }

// HasHello reports whether there is hello under that name, and "not primary" instead of "not master".
func (v Version) HasHello() bool {
	return v.AtLeast(5, 0) || v.Major == 4 && v.Minor == 4 && v.Patch >= 2
}

// DelayField is the name of a member's delay in a configuration.
func (v Version) DelayField() string {
	if v.AtLeast(5, 0) {
		return "secondaryDelaySecs"
	}
	return "slaveDelay"
}

// IsZero reports whether v is no version.
func (v Version) IsZero() bool { return v == Version{} }

// Within reports whether a version has what there is since one version and until another, for ever if that is zero.
func (v Version) Within(since, until Version) bool {
	return v.Has(since) && (until.IsZero() || !v.Has(until))
}

// Has reports whether a version has what there is since another.
func (v Version) Has(since Version) bool {
	if v.Major == since.Major && v.Minor == since.Minor {
		return v.Patch >= since.Patch
	}
	return v.AtLeast(since.Major, since.Minor)
}

// legacyTexts are the texts that errors had before "not master" became "not primary" (4.4.2 and 5.0).
var legacyTexts = strings.NewReplacer(
	"not primary and secondaryOk=false", "not master and slaveOk=false",
	"not primary", "not master",
)

// Express returns the name and the text that an error has in the version.
func (v Version) Express(e *mongoerr.Error) (name, message string) {
	name, message = e.CodeName(), e.Message
	if v.HasHello() {
		return name, message
	}
	if old := mongoerr.OldName(e.Code); old != "" && e.Name == "" {
		name, message = old, legacyTexts.Replace(message)
	}
	return name, message
}
