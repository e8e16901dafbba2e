//go:build !go1.26

package revocation

// naming calls a function that hashes names. Before Go 1.26, SHA-1 panics where the process permits only the algorithms of FIPS 140.
func naming(hash func()) { hash() }
