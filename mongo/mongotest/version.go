package mongotest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// version is the version of the real server that this one behaves like.
type version struct{ major, minor, patch int32 }

// newestVersion is what a server is unless it is told otherwise.
var newestVersion = version{7, 0, 25}

// release is a version that a server can be, in its last patch, with its highest wire version.
type release struct {
	version
	wire int32
}

var releases = []release{
	{version{3, 6, 23}, 6},
	{version{4, 0, 28}, 7},
	{version{4, 2, 25}, 8},
	{version{4, 4, 29}, 9},
	{version{5, 0, 31}, 13},
	{version{6, 0, 26}, 17},
	{newestVersion, 21},
	{version{8, 0, 15}, 25},
	{version{9, 0, 0}, 29},
}

// Version makes the servers behave like another version, "4.2" or "4.2.8" for example, as far as clients can tell versions
// apart: buildInfo, the wire version, what hello and errors carry, which commands there are. Known are 3.6, 4.0, 4.2, 4.4,
// 5.0, 6.0, 7.0 and 8.0, each in its last patch if none is named, and 9.0 as its alpha has it; 7.0 if the option is not given.
func Version(v string) CommonOption {
	return commonOption(func(c *commonConfig) { c.wantVersion = v })
}

// ServerVersion returns the version that a server made with [Version] says it is, and that of one made without for "".
func ServerVersion(v string) (string, error) {
	if v == "" {
		return newestVersion.String(), nil
	}
	parsed, err := parseVersion(v)
	return parsed.String(), err
}

// parseVersion reads "major.minor" or "major.minor.patch" of a known release.
func parseVersion(s string) (version, error) {
	var v version
	parts := strings.Split(s, ".")
	fields := []*int32{&v.major, &v.minor, &v.patch}
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
		v = r.version
	}
	return v, nil
}

// release returns the release that a version is of, nil if it is not known.
func (v version) release() *release {
	i := slices.IndexFunc(releases, func(r release) bool { return r.major == v.major && r.minor == v.minor })
	if i < 0 {
		return nil
	}
	return &releases[i]
}

// atLeast tells whether v is that version or a newer one.
func (v version) atLeast(major, minor int32) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

// String returns "major.minor.patch".
func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }

// feature returns the version by which data files are compatible, "major.minor".
func (v version) feature() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// What came with 4.4: hello under that name (4.4.2), topologyVersion and what depends on it (awaitable and streamed hellos),
// and error labels that the server puts on.
func (v version) hasTopologyVersion() bool { return v.atLeast(4, 4) }
func (v version) labelsErrors() bool       { return v.atLeast(4, 4) }

// What change streams have: since 4.0.7 each batch says behind what it stands, since 5.0 they tell how arrays were cut, and
// since 6.0 they tell the time, documents before and after, and more kinds of events.
func (v version) tellsPosition() bool { return v.hasFrom(version{4, 0, 7}) }
func (v version) tellsCuts() bool     { return v.atLeast(5, 0) }
func (v version) hasImages() bool     { return v.atLeast(6, 0) }

// What came with 9.0: dropIndexes passes over indexes that are not there, and the simple collation of an index is shown.
func (v version) needsIndexesToDrop() bool   { return !v.atLeast(9, 0) }
func (v version) showsSimpleCollation() bool { return v.atLeast(9, 0) }

func (v version) hasHello() bool {
	return v.atLeast(5, 0) || v.major == 4 && v.minor == 4 && v.patch >= 2
}

// checkComment refuses the comments that older versions do: all commands may have one since 4.4, and a few had it before as a
// string.
func (v version) checkComment(command string, comment query.Value) error {
	switch command {
	case "count", "distinct":
		if !v.has(&spec{since: version{4, 4, 14}}) && comment.Type != bson.TypeString {
			return wrongType(command, "comment", comment.Type, "string")
		}
	case "find", "aggregate":
	default:
		if !v.atLeast(4, 4) {
			return unknownField(command, "comment")
		}
	}
	return nil
}

// delayField is what a configuration calls the delay of a member.
func (v version) delayField() string {
	if v.atLeast(5, 0) {
		return "secondaryDelaySecs"
	}
	return "slaveDelay"
}

// has tells whether a version has a command.
func (v version) has(s *spec) bool {
	return v.hasFrom(s.since) && (s.gone == version{} || !v.hasFrom(s.gone))
}

// hasFrom tells whether a version has what there is since another.
func (v version) hasFrom(since version) bool {
	if v.major == since.major && v.minor == since.minor {
		return v.patch >= since.patch
	}
	return v.atLeast(since.major, since.minor)
}

// legacyTexts are the texts that errors had before "not master" became "not primary" (4.4.2 and 5.0).
var legacyTexts = strings.NewReplacer(
	"not primary and secondaryOk=false", "not master and slaveOk=false",
	"not primary", "not master",
)

// express puts an error into the words of the version.
func (v version) express(e *mongoerr.Error) (name, message string) {
	name, message = e.CodeName(), e.Message
	if v.hasHello() {
		return name, message
	}
	if old := mongoerr.OldName(e.Code); old != "" && e.Name == "" {
		name, message = old, legacyTexts.Replace(message)
	}
	return name, message
}
