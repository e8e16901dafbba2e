// Package cluster holds the sockets of a MongoDB client: connections, one pool and one monitor for each server, the
// handshake, and the topology that the monitors keep. All of it is safe for concurrent use unless said otherwise.
//
// The rules are those of the specifications for Connection Monitoring and Pooling, Server Discovery and Monitoring,
// Server Selection and the MongoDB Handshake; the decisions among them that need no socket are in package topology.
//
// Locks: Cluster.mu before pool.mu; no lock is held while waiting, dialling, or calling a listener.
package cluster
