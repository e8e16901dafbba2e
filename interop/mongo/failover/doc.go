// Package failover measures how long a client needs to find the primary that was just elected: the official driver and ours,
// with streaming and with polling monitors, on the same kind of set. It also measures what one lost reply and cancelled operations
// cost each of them. It has only tests.
package failover
