package pdf

// target is where an entry of the outline leads.
type target struct {
	Entry
	page int
	y    float64
}

// outline reads the bookmarks, in the order of the tree.
func (d *document) outline(root dict, leaves []leaf) []target {
	numbers := map[ref]int{}
	for i, l := range leaves {
		if r, ok := l.id.(ref); ok {
			numbers[r] = i
		}
	}
	named := d.names(root)
	var all []target
	seen := map[ref]bool{}
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		for len(all) < maxEntries && depth <= maxDepth {
			r, ok := v.(ref)
			item := d.dict(v)
			if !ok || item == nil || seen[r] {
				return
			}
			seen[r] = true
			destination := d.get(item["Dest"])
			if destination == nil {
				destination = d.get(d.dict(item["A"])["D"])
			}
			t := target{Entry: Entry{Label: textString(d.get(item["Title"])), Depth: depth, Leaf: item["First"] == nil}}
			if d.find(&t, destination, named, numbers) && t.Label != "" {
				all = append(all, t)
			}
			walk(item["First"], depth+1)
			v = item["Next"]
		}
	}
	walk(d.dict(root["Outlines"])["First"], 1)
	return all
}

// find sets the place of a target; false if it is not in the document.
func (d *document) find(t *target, v any, named map[string]any, numbers map[ref]int) bool {
	switch key := v.(type) {
	case name:
		v = named[string(key)]
	case []byte:
		v = named[string(key)]
	}
	if values := d.dict(v); values != nil {
		v = values["D"]
	}
	a := d.array(v)
	r, ok := at(a, 0).(ref)
	page, known := numbers[r]
	if !ok || !known {
		return false
	}
	t.page, t.y = page, 1e6
	switch at(a, 1) {
	case name("XYZ"):
		t.y = d.number(at(a, 3), t.y)
	case name("FitH"), name("FitBH"):
		t.y = d.number(at(a, 2), t.y)
	}
	return true
}

// names are the destinations that have a name, in both forms that there are.
func (d *document) names(root dict) map[string]any {
	named := map[string]any{}
	for key, v := range d.dict(root["Dests"]) {
		named[string(key)] = v
	}
	seen := map[ref]bool{}
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		if r, ok := v.(ref); ok {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		node := d.dict(v)
		if node == nil || depth > maxDepth || len(named) > maxObjects {
			return
		}
		list := d.array(node["Names"])
		for i := 0; i+1 < len(list); i += 2 {
			key, _ := d.get(list[i]).([]byte)
			named[string(key)] = list[i+1]
		}
		for _, kid := range d.array(node["Kids"]) {
			walk(kid, depth+1)
		}
	}
	walk(d.dict(root["Names"])["Dests"], 0)
	return named
}
