// Package cbsimulation.
package cbsimulation
