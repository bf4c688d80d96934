// Package browser tests the pages of `annotator serve` in a browser: the program itself, its embedded model, and Chromium.
// testdata/axe.min.js is axe-core 4.14.1 (Deque Systems, MPL-2.0: testdata/axe-LICENSE).
package browser
