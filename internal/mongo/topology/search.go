package topology

// search finds addresses in a list. Each find begins behind the place of the last hit, so that all addresses of a list in about
// the same order are found in one pass: members come in the same order again and again, and there may be a thousand.
type search[T any] struct {
	list    []T
	address func(T) string
	next    int
}

// find returns the index of addr, or -1.
func (s *search[T]) find(addr string) int {
	for i := range s.list {
		at := s.next + i
		if at >= len(s.list) {
			at -= len(s.list)
		}
		if s.address(s.list[at]) == addr {
			s.next = at + 1
			return at
		}
	}
	return -1
}

func (s *search[T]) has(addr string) bool { return s.find(addr) >= 0 }

func searchServers(servers []*Server) search[*Server] {
	return search[*Server]{list: servers, address: func(s *Server) string { return s.Address }}
}

func searchAddresses(addresses []string) search[string] {
	return search[string]{list: addresses, address: func(addr string) string { return addr }}
}
