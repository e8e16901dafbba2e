package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// Version makes the servers behave like another version, "4.2" or "4.2.8" for example, as far as clients can tell versions
// apart: buildInfo, the wire version, what hello and errors carry, which commands there are. Known are 3.6, 4.0, 4.2, 4.4,
// 5.0, 6.0, 7.0 and 8.0, each in its last patch if none is named, and 9.0 as its alpha has it; 7.0 if the option is not given.
func Version(v string) CommonOption {
	return commonOption(func(c *commonConfig) { c.wantVersion = v })
}

// ServerVersion returns the version that a server made with [Version] says it is, and that of one made without for "".
func ServerVersion(v string) (string, error) {
	if v == "" {
		return version.Newest.String(), nil
	}
	parsed, err := version.Parse(v)
	return parsed.String(), err
}
