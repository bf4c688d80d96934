//go:build !linux

package main

import (
	"errors"
	"time"
)

var errPlatform = errors.New("processor time and memory are measured on Linux only")

func processorTime() (time.Duration, error) { return 0, errPlatform }

func peakMemory() (int64, error) { return 0, errPlatform }
