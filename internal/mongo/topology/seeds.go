package topology

import "slices"

// ReplaceSeeds returns the topology description after a poll of its SRV record found addresses: Polling SRV Records
// for mongos Discovery. Servers that are not among addresses are removed, new ones are added. It returns d itself if
// the addresses are the same, if there are none, or if the topology is neither Unknown nor Sharded.
func ReplaceSeeds(d *Description, addresses []string) *Description {
	if len(addresses) == 0 || d.Type != UnknownTopology && d.Type != Sharded {
		return d
	}
	named := &Description{}
	named.add(addresses)
	next, listed := d.clone(), searchServers(named.Servers)
	next.Servers = slices.DeleteFunc(next.Servers, func(s *Server) bool { return !listed.has(s.Address) })
	kept := len(next.Servers)
	next.add(addresses)
	if kept == len(d.Servers) && kept == len(next.Servers) {
		return d
	}
	next.seeds = len(next.Servers)
	next.derive()
	return next
}
