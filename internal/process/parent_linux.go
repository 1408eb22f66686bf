package process

import "syscall"

// endWithParent has the system kill the program when the thread that started it ends. What the program has started is left to the
// watch.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
