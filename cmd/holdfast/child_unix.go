//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// asGroup makes a command the first of a process group of its own. When its context ends, the whole group is killed. A Ctrl-C of the
// terminal does not reach it: this program ends it then.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		killGroup(cmd.Process.Pid)
		return nil
	}
}

// killGroup kills the processes of a group that are left.
func killGroup(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }
