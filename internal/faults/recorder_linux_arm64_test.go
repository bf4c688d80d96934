package faults_test

// legacyCalls are the system calls of this processor that have newer equivalents: none.
func legacyCalls() []int { return nil }

// modern converts a call to the newer equivalent.
func modern(c call) call { return c }
