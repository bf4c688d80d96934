package main

import (
	"runtime"
	"time"

	"annotator"
)

// walked is what a run cost.
type walked struct {
	Scenes     int
	Start      time.Duration // processor time from the opening of the database to the end of INIT
	Waited     time.Duration // the same on the wall clock
	Processor  time.Duration // of all scenes
	Tenths     [10]time.Duration
	Objects    uint64 // allocated, over all scenes
	Allocated  uint64 // bytes
	PeakMemory int64  // bytes, of the whole process
}

// meter reads the clocks at the start of the walk and at each scene's end.
type meter struct {
	opened time.Time
	used   time.Duration // of the processor when the meter was made
	waited time.Duration // until the walk began
	first  runtime.MemStats
	marks  []time.Duration // processor time at the start and behind each scene
	failed error
}

func newMeter() *meter {
	used, err := processorTime()
	return &meter{opened: time.Now(), used: used, failed: err}
}

func (m *meter) see(n annotator.Notice) {
	switch n.Kind {
	case annotator.NoticeRun:
		m.begin()
	case annotator.NoticeScene:
		m.mark()
	}
}

func (m *meter) begin() {
	m.waited = time.Since(m.opened)
	runtime.ReadMemStats(&m.first)
	m.mark()
}

func (m *meter) mark() {
	used, err := processorTime()
	if err != nil {
		m.failed = err
	}
	m.marks = append(m.marks, used)
}

func (m *meter) result() (*walked, error) {
	if m.failed != nil {
		return nil, m.failed
	}
	var last runtime.MemStats
	runtime.ReadMemStats(&last)
	peak, err := peakMemory()
	if err != nil {
		return nil, err
	}
	w := &walked{
		Scenes: len(m.marks) - 1, Start: m.marks[0] - m.used, Waited: m.waited, Processor: m.marks[len(m.marks)-1] - m.marks[0],
		Objects: last.Mallocs - m.first.Mallocs, Allocated: last.TotalAlloc - m.first.TotalAlloc, PeakMemory: peak,
	}
	for tenth := range w.Tenths {
		from, to := w.Scenes*tenth/10, w.Scenes*(tenth+1)/10
		w.Tenths[tenth] = m.marks[to] - m.marks[from]
	}
	return w, nil
}
