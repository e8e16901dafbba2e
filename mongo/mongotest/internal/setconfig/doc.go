// Package setconfig is what the configuration of a replica set has for each member, and its rules.
package setconfig
