// Package failpoint reads the content of configureFailPoint: the commands on which a fail point acts, how often it acts, and
// its effects on them.
package failpoint
