package mongo

import (
	"slices"
	"strings"
)

// withoutNoStaleness removes maxStalenessSeconds=-1, which means that there is no limit (Max Staleness specification), from a
// connection string: the official parser refuses it, so that Connect never sees such a string.
func withoutNoStaleness(uri string) string {
	before, query, found := strings.Cut(uri, "?")
	if !found {
		return uri
	}
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(option string) bool {
		name, value, _ := strings.Cut(option, "=")
		return strings.EqualFold(name, "maxStalenessSeconds") && value == "-1"
	})
	return before + "?" + strings.Join(kept, "&")
}
