package unified

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// version is the three numbers of a version string. The rest of the string (a fourth part, "-alpha1") has no meaning here.
type version [3]int

func parseVersion(text string) (version, error) {
	var v version
	text, _, _ = strings.Cut(text, "-")
	for i, part := range strings.SplitN(text, ".", 4) {
		if i == len(v) {
			break
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, fmt.Errorf("%q is not a version", text)
		}
		v[i] = n
	}
	return v, nil
}

func (v version) compare(other version) int { return slices.Compare(v[:], other[:]) }

// newestSchema is the newest version of the format that this runner reads.
var newestSchema = version{1, 28, 0}

func checkSchema(text string) error {
	v, err := parseVersion(text)
	if err != nil {
		return fmt.Errorf("schemaVersion: %w", err)
	}
	if v[0] != newestSchema[0] || v.compare(newestSchema) > 0 {
		return fmt.Errorf("schemaVersion %s is not supported by this runner, which reads 1.0 to %d.%d", text, newestSchema[0], newestSchema[1])
	}
	return nil
}
