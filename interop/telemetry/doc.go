// Package telemetry runs the example service as its users do, beside an OpenTelemetry collector and a Prometheus server, and asks these what they know.
package telemetry
