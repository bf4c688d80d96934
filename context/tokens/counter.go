package tokens

import (
	"cmp"
	"math"
	"slices"
)

// MaxObservations is how many observations a counter learns from: the newest.
const MaxObservations = 32

// observation is a prompt that a server has counted.
type observation struct {
	size   Size
	tokens int // as reported
}

// Counter estimates sizes in tokens. It fits the rate of each kind of character to the newest observations, by least
// squares. The zero Counter has learned nothing.
type Counter struct {
	// Ratio is the factor of the assumed rates before anything is learned, from MinRatio to MaxRatio; 0 means the
	// factor one.
	Ratio float64

	newest  []observation // at most MaxObservations, oldest first
	factors *vector       // of the rates; nil before the first observation
}

type vector [kinds]float64

// rates are tokens per character, before anything is learned.
var rates = vector{0.25, 0.5, 1, 1}

// Bounds of the factors. A report outside them is an error of the server, or of a prompt that it cut.
const minFactor, maxFactor = 0.25, 4.0

// Bounds of Counter.Ratio.
const (
	MinRatio = minFactor
	MaxRatio = maxFactor
)

// priorWeight is the weight of the assumed rates, where that of an observation is one.
const priorWeight = 0.003

// tokens splits the estimate of a size by kind.
func (s Size) tokens() vector {
	var v vector
	for kind := range s {
		v[kind] = float64(s[kind]) * rates[kind]
	}
	return v
}

func (v vector) dot(w *vector) float64 {
	total := 0.0
	for i := range v {
		total += v[i] * w[i]
	}
	return total
}

// Count estimates a size in tokens. A nil Counter has learned nothing.
func (c *Counter) Count(s Size) int {
	factors := &vector{1, 1, 1, 1}
	switch {
	case c == nil:
	case c.factors != nil:
		factors = c.factors
	case c.Ratio != 0:
		factors = &vector{c.Ratio, c.Ratio, c.Ratio, c.Ratio}
	}
	return int(math.Ceil(s.tokens().dot(factors)))
}

// Observe records how many tokens the server counted for a size. What a counter has learned is a function of its newest
// observations alone.
func (c *Counter) Observe(size Size, tokens int) {
	estimate := size.Tokens()
	if tokens < int(minFactor*float64(estimate)) || tokens > int(maxFactor*float64(estimate)) || tokens <= 0 {
		return
	}
	c.newest = append(c.newest, observation{size, tokens})
	if len(c.newest) > MaxObservations {
		c.newest = slices.Delete(c.newest, 0, 1)
	}
	c.factors = fit(c.newest, cmp.Or(c.Ratio, 1))
}

// Learned reports whether any report was observed.
func (c *Counter) Learned() bool { return len(c.newest) > 0 }

// Doubts reports whether an observed report is so far above the estimates that it is probably wrong. Some servers count
// a part of a prompt twice. If the report before was as far above, the tokenizer may have changed.
func (c *Counter) Doubts(size Size, tokens int) bool {
	const implausible = 1.5
	far := func(o observation) bool { return float64(o.tokens) > implausible*float64(c.Count(o.size)) }
	for i := len(c.newest) - 1; i >= 0; i-- {
		if o := c.newest[i]; o == (observation{size, tokens}) {
			return far(o) && (i == 0 || !far(c.newest[i-1]))
		}
	}
	return false
}

// fit finds the factors of the rates with the least sum of squares of the errors of the estimates. Each error is a
// share of what was reported. What no observation shows has the ratio.
func fit(observations []observation, ratio float64) *vector {
	var matrix [kinds]vector
	var right vector
	for i := range matrix {
		matrix[i][i], right[i] = priorWeight, ratio*priorWeight
	}
	for _, o := range observations {
		share := o.size.tokens()
		for i := range share {
			share[i] /= float64(o.tokens)
		}
		for i := range share {
			for j := range share {
				matrix[i][j] += share[i] * share[j]
			}
			right[i] += share[i]
		}
	}
	factors := solve(matrix, right)
	for i := range factors {
		factors[i] = min(max(factors[i], minFactor), maxFactor)
	}
	return &factors
}

// solve returns the solution of a system of equations whose matrix is symmetric and positive definite, so that none of
// the divisors is zero.
func solve(matrix [kinds]vector, right vector) vector {
	for i := range matrix {
		for below := i + 1; below < kinds; below++ {
			by := matrix[below][i] / matrix[i][i]
			for j := i; j < kinds; j++ {
				matrix[below][j] -= by * matrix[i][j]
			}
			right[below] -= by * right[i]
		}
	}
	for i := kinds - 1; i >= 0; i-- {
		for j := i + 1; j < kinds; j++ {
			right[i] -= matrix[i][j] * right[j]
		}
		right[i] /= matrix[i][i]
	}
	return right
}
