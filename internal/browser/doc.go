// Package browser tests the pages of `annotator serve` in Chromium. It runs the built program with its offline model.
// The file testdata/axe.min.js is axe-core 4.14.1 (Deque Systems, MPL-2.0: testdata/axe-LICENSE).
package browser
