// Package inspect looks at a MongoDB deployment for the commands `holdfast topology` and `holdfast check`.
//
// The way of `holdfast topology`: [Open] checks the connection string and starts a client whose monitors report to a [Watcher].
// [Watcher.Ready] waits until each server was checked once. [Watcher.View] makes a [View] of the events so far: topology.Select
// chooses the members of each read preference, and choose.go says why. [Changes] compares two views.
//
// The way of `holdfast check`: [Survey] opens a Watcher too, asks each server and the deployment, and collects [Facts]. [Check] is a
// pure function from Facts to findings; each finding belongs to an entry of [Definitions].
//
// Begin with doc.go. Then watch.go (a client and its events), rebuild.go (the topology of the events), pools.go, view.go,
// choose.go (where a read goes, and why), changes.go, topologytext.go; survey.go, surveyset.go, surveyserver.go (what is asked),
// facts.go, check.go, checkdeployment.go, checkset.go, checkconcern.go, checkuri.go, checkrelease.go, checkcertificate.go (pure),
// finding.go (the list of the checks), checktext.go, columns.go.
package inspect
