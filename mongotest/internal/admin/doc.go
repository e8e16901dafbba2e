// Package admin has the commands on servers, replica sets, sharded clusters, users, roles, sessions and parameters, each in a file of its own.
// They register themselves with package call.
package admin
