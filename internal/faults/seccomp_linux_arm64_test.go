package faults_test

// seccomp is the number of the system call of that name, which package syscall does not have.
const seccomp = 277
