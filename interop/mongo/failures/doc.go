// Package failures runs the same scripts of failures, on the same servers, with the official driver and with ours, and
// prints what each returned to the application in two columns. Ours is judged: where the specifications demand a retry, no
// error may be returned. It has only tests.
package failures
