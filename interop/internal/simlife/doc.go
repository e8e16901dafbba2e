// Package simlife has how a life of a simulation is led, whatever the database: from which seeds, with which load, by which plan of faults,
// and with which repairs.
package simlife
