package model

// A model is stuck if it repeats one unit at least this often, over at least this many bytes. Prose, verse, dialogue
// and tables repeat far less, and rulers of dashes are shorter.
const (
	stuckTimes = 16
	stuckBytes = 1024
)

// gram is the number of bytes whose recurrence suggests a repetition.
const gram = 8

// stuck detects a repetition. It returns the unit, and how often it had recurred when it was detected; 0 if there is
// none. It reads the text once: the last position of the same gram suggests the unit's length. That length is valid
// while each byte equals the byte one unit before.
func stuck(text string) (unit string, times int) {
	if len(text) < stuckBytes {
		return "", 0
	}
	var seen [1 << 12]int32 // by a gram's hash: the end of its last occurrence, plus one
	length, run := 0, 0
	for i := gram - 1; i < len(text); i++ {
		slot := &seen[hashGram(text[i-gram+1:i+1])]
		if length > 0 && text[i] == text[i-length] {
			run++
		} else if length, run = 0, 0; *slot > 0 {
			if before := int(*slot) - 1; text[before-gram+1:before+1] == text[i-gram+1:i+1] {
				length, run = i-before, gram
			}
		}
		*slot = int32(i + 1)
		if run >= stuckBytes && run >= stuckTimes*length {
			return text[i-length+1 : i+1], run / length
		}
	}
	return "", 0
}

// hashGram is FNV-1a, folded to the length of the table.
func hashGram(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return (h ^ h>>12 ^ h>>24) & (1<<12 - 1)
}
