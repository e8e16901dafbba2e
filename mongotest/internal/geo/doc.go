// Package geo has the geometries of queries and documents: on a plane, and on a sphere by github.com/golang/geo. All functions are pure;
// a Geometry and a Shape are immutable.
package geo
