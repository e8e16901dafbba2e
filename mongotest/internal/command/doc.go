// Package command has the commands on data, each in a file of its own, with what several share: the stages of a pipeline that read the
// server, views, the targets of $out and $merge, explain, and the feeds of cursors. They register themselves with package call.
package command
