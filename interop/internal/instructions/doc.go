// Package instructions counts the instructions that this process executes in user space. Unlike CPU time, their number
// hardly depends on the machine and on what else runs there.
package instructions
