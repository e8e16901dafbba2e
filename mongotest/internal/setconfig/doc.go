// Package setconfig has the settings of each member in the configuration of a replica set, and their rules.
package setconfig
