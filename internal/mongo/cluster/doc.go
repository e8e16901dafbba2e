// Package cluster has the parts of a MongoDB client that use sockets: connections and their handshake, one pool and
// one monitor for each server, and the current topology description. All of it is safe for concurrent use unless its
// comment says otherwise.
//
// The rules are those of the specifications for Connection Monitoring and Pooling, Server Discovery and Monitoring,
// Server Selection and the MongoDB Handshake; the rules that need no socket are in package topology. Lock order:
// Cluster.mu, then pool.mu. No lock is held during a wait, a dial or a call of a listener.
package cluster
