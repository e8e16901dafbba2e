package inspect

import (
	"strings"
	"time"
)

// endsOfLife are the last days on which MongoDB maintains a release: MongoDB Software Lifecycle Schedules, as of September 2026.
var endsOfLife = map[string]string{
	"3.6": "2021-04-30", "4.0": "2022-04-30", "4.2": "2023-04-30", "4.4": "2024-02-29",
	"5.0": "2024-10-31", "5.2": "2022-03-23", "5.3": "2022-07-19",
	"6.0": "2025-07-31", "6.1": "2023-02-09", "6.2": "2023-04-24", "6.3": "2023-08-31",
	"7.0": "2027-08-31", "7.1": "2024-01-23", "7.2": "2024-03-27", "7.3": "2024-10-02",
	"8.0": "2029-10-31", "8.1": "2025-09-30", "8.2": "2026-07-31",
}

// releaseEndsSoon is from when the end of a release is worth a note: an upgrade takes planning.
const releaseEndsSoon = 180 * 24 * time.Hour

// support checks whether a release of some servers is maintained.
func (c *judge) support(release string, servers []string) {
	end, err := time.Parse(time.DateOnly, endsOfLife[release])
	if err != nil {
		c.add(idVersionSupport, OK, "", "no end of release %s is known", release)
		return
	}
	where, day := strings.Join(servers, ", "), end.Format("2 January 2006")
	left := end.AddDate(0, 0, 1).Sub(c.facts.At)
	if left <= 0 {
		c.add(idVersionSupport, Warning, "", "release %s (%s) is maintained no longer, since %s", release, where, day)
		return
	}
	c.add(idVersionSupport, levelIf(left < releaseEndsSoon, Note), "", "release %s (%s) is maintained until %s", release, where, day)
}
