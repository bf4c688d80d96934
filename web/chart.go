package web

// chart is a plot over the scenes of the story, drawn as SVG. Coordinates are in units of its view box.
type chart struct {
	Label         string
	Width, Height int
	Bars          []bar
	Marks         []segment
	Rows          []gridLine
	Columns       []gridLine

	scenes int // on the horizontal axis, from 1
	top    int // the maximum of the vertical axis
}

// bar is a rectangle of a chart.
type bar struct {
	X, Y, W, H float64
	Class      string
	Title      string
}

// segment is a vertical line of a chart.
type segment struct {
	X, Y1, Y2 float64
	Title     string
}

// gridLine is a line of the grid, with its number.
type gridLine struct {
	At    float64
	Label string
}

// The size of a chart and its margins.
const (
	chartWidth, chartHeight = 900, 260
	chartLeft, chartRight   = 64, 12
	chartTop, chartBottom   = 12, 30
)

func newChart(label string, scenes int) chart {
	return chart{Label: label, Width: chartWidth, Height: chartHeight, scenes: max(1, scenes), top: 1}
}

// reach extends the vertical axis to a value.
func (c *chart) reach(value int) { c.top = max(c.top, value) }

func (c *chart) x(scene float64) float64 {
	return chartLeft + (scene-1)/float64(c.scenes)*(chartWidth-chartLeft-chartRight)
}

func (c *chart) y(value int) float64 {
	return chartTop + (1-float64(value)/float64(c.top))*(chartHeight-chartTop-chartBottom)
}

// column returns a bar without height for a group of scenes.
func (c *chart) column(from, to int) bar {
	left, right := c.x(float64(from)), c.x(float64(to)+1)
	gap := min(2, (right-left)/5)
	return bar{X: left, W: right - left - gap}
}

// stack adds bars of the given values on top of each other.
func (c *chart) stack(at bar, values []int, classes []string) {
	sum := 0
	for i, value := range values {
		b := at
		b.Y, b.H, b.Class = c.y(sum+value), c.y(sum)-c.y(sum+value), classes[i]
		c.Bars = append(c.Bars, b)
		sum += value
	}
}

// mark draws a line from one value to another at the beginning of a scene.
func (c *chart) mark(scene, from, to int, title string) {
	c.Marks = append(c.Marks, segment{c.x(float64(scene)), c.y(from), c.y(to), title})
}

// grid draws the lines of the axes at round numbers.
func (c *chart) grid() {
	for value, step := 0, roundStep(c.top, 4); value <= c.top; value += step {
		c.Rows = append(c.Rows, gridLine{c.y(value), shortNumber(value)})
	}
	step := roundStep(c.scenes, 8)
	c.Columns = append(c.Columns, gridLine{c.x(1), "1"})
	for scene := step; scene <= c.scenes; scene += step {
		if scene > 1 {
			c.Columns = append(c.Columns, gridLine{c.x(float64(scene)), groupDigits(scene)})
		}
	}
}

// roundStep returns the least 1, 2 or 5 times a power of ten by which a number of steps reach top.
func roundStep(top, steps int) int {
	for power := 1; ; power *= 10 {
		for _, times := range []int{1, 2, 5} {
			if times*power*steps >= top {
				return times * power
			}
		}
	}
}
