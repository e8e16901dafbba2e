// Package rawsocket reads and writes small pieces of TCP connections without telling Go's scheduler of the system calls.
//
// A socket of package net never blocks in the kernel, so the scheduler need not be ready for that. But each system call that it is told of wakes its
// monitor (sysmon) if the process was idle before: a thread switch, which costs more than the call. A server that answers one message after the
// other is idle before each. Large pieces take the ordinary way: they hold a processor longer.
package rawsocket
