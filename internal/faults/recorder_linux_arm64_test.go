package faults_test

// legacyCalls are the system calls that this processor has beside newer ones: none.
func legacyCalls() []int { return nil }

// modern is a call as the newer one that does the same.
func modern(c call) call { return c }
