// Package failpoint is what configureFailPoint says: on which commands a fail point acts, how often, and what it does to them.
package failpoint
