package edits

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
)

// compareClaims compares the facts. One without an id is new, and one that is missing is wrong.
func (c *entryComparison) compareClaims() error {
	if !c.has("claims") {
		return nil
	}
	before, now := claimsOf(c.base), claimsOf(c.now)
	inFile := map[int64]bool{}
	var fresh []int
	var rejected []wanted
	for i := range c.file.Claims {
		claim := &c.file.Claims[i]
		switch base := before[claim.ID]; {
		case claim.ID == 0:
			fresh = append(fresh, i)
		case base == nil:
			c.leave(c.line("claims", i), "it had no fact %d; a new fact has no id", claim.ID)
		default:
			inFile[claim.ID] = true
			if err := c.compareClaim(i, base, now[claim.ID]); err != nil {
				return err
			}
		}
	}
	for i := range c.base.Claims {
		base := &c.base.Claims[i]
		is := now[base.ID]
		switch {
		case inFile[base.ID], is != nil && is.Until != 0 && base.Until == 0, c.file.isTable:
		case base.Until != 0:
			c.leave(c.line("claims"), "fact %d %s has ended, and stays in the history", base.ID, quoted(base.Text))
		default:
			rejected = append(rejected, wanted{c.line("claims"), annotator.Operation{
				Do: annotator.DeedReject, Fact: base.ID, Was: base.Text,
			}})
		}
	}
	for _, w := range rejected {
		c.want(w.line, w.op)
	}
	for _, i := range fresh {
		if err := c.addClaim(i); err != nil {
			return err
		}
	}
	return nil
}

func claimsOf(e *annotator.Entry) map[int64]*annotator.Claim {
	claims := make(map[int64]*annotator.Claim, len(e.Claims))
	for i := range e.Claims {
		claims[e.Claims[i].ID] = &e.Claims[i]
	}
	return claims
}

// compareClaim compares the fact of the file with an index.
func (c *entryComparison) compareClaim(i int, base, now *annotator.Claim) error {
	file, path := &c.file.Claims[i], func(name string) []any { return []any{"claims", i, name} }
	c.compareFixed(i, base)
	text := base.Text
	if c.has(path("text")...) {
		text = strings.Join(strings.Fields(codex.Clean(file.Text)), " ")
	}
	isOpen := now != nil && now.Until == 0
	switch {
	case text == base.Text:
	case base.Until != 0:
		c.leave(c.line(path("text")...), "fact %d has ended, and keeps its words", base.ID)
	case c.holds(text):
	case !isOpen:
		c.conflict(c.line(path("text")...), "fact %d has ended since, and is %s in the file", base.ID, quoted(text))
	}
	reworded := text != base.Text && isOpen && base.Until == 0 && !c.holds(text)
	if err := c.compareEnd(i, base, now, reworded); err != nil {
		return err
	}
	added, allFound, err := c.newQuotations(i, base, text, isOpen)
	if err != nil {
		return err
	}
	if allFound {
		if err := c.dropQuotations(i, base, text, isOpen); err != nil {
			return err
		}
	}
	edit := annotator.Operation{Do: annotator.DeedEdit, Fact: base.ID, Was: base.Text, Text: text}
	line := c.line(path("text")...)
	if c.compareRelation(i, base, now, &edit) && !reworded {
		edit.Was, edit.Text, line = now.Text, now.Text, c.line(path("relation")...)
	}
	if reworded || edit.Relation != "" {
		c.want(line, edit)
	}
	if file.Identity && !base.Identity && isOpen && !now.Identity {
		c.want(c.line(path("identity")...), annotator.Operation{
			Do: annotator.DeedAdd, Text: text, Kind: base.Kind, Speaker: base.Speaker, Identity: true,
		})
	}
	if allFound {
		for _, w := range added {
			c.want(w.line, w.op)
		}
	}
	return nil
}

// compareRelation compares the relation of a fact, and sets another one in the edit of the fact.
func (c *entryComparison) compareRelation(i int, base, now *annotator.Claim, edit *annotator.Operation) (changed bool) {
	file := &c.file.Claims[i]
	relation, object := base.Relation, base.Object
	if c.has("claims", i, "relation") {
		relation = codex.CleanName(file.Relation)
	}
	if c.has("claims", i, "object") {
		object = codex.CleanName(file.Object)
	}
	line := c.line("claims", i, "relation")
	switch {
	case relation == base.Relation && object == base.Object:
	case !codex.HasWord(relation):
		c.leave(line, "the relation of fact %d cannot be taken away; take the fact away and add it anew, without an id",
			base.ID)
	case now == nil || now.Until != 0:
		c.conflict(line, "fact %d has ended, and gets no relation", base.ID)
	case relation != now.Relation || object != now.Object:
		edit.Relation, edit.Object, changed = relation, object, true
	}
	return changed
}

// holds reports whether the entry has an open fact in some words.
func (c *entryComparison) holds(text string) bool {
	return slices.ContainsFunc(c.now.Claims, func(is annotator.Claim) bool { return is.Until == 0 && is.Text == text })
}

// compareFixed says which changes of a fact need a new one.
func (c *entryComparison) compareFixed(i int, base *annotator.Claim) {
	file := &c.file.Claims[i]
	for _, field := range []struct {
		name string
		same bool
	}{
		{"kind", file.Kind == base.Kind},
		{"speaker", file.Speaker == base.Speaker},
		{"document", file.Document == base.Document},
		{"state", file.State == base.State},
		{"identity", file.Identity == base.Identity || file.Identity},
		{"earlier", file.Earlier == base.Earlier},
		{"as", file.As == base.As},
		{"from", c.samePlace(file.From, base.From)},
		{"replaced_by", file.ReplacedBy == base.ReplacedBy},
		{"moved_to", file.MovedTo == base.MovedTo},
	} {
		if c.has("claims", i, field.name) && !field.same {
			c.leave(c.line("claims", i, field.name), "%q of fact %d cannot be changed; take the fact away and add it "+
				"anew, without an id", field.name, base.ID)
		}
	}
}

// compareEnd compares how a fact has ended.
func (c *entryComparison) compareEnd(i int, base, now *annotator.Claim, reworded bool) error {
	file := &c.file.Claims[i]
	if !c.has("claims", i, "until") && !c.has("claims", i, "ended") {
		return nil
	}
	isOpen, wasOpen := file.Until == nil && file.Ended == "", base.Until == 0
	line := c.line("claims", i, "until")
	if file.Ended != "" {
		line = c.line("claims", i, "ended")
	}
	switch {
	case isOpen && wasOpen:
	case !isOpen && !wasOpen:
		if file.Ended != base.Ended || file.Until != nil && !c.samePlace(*file.Until, base.Until) {
			c.leave(line, "how and where fact %d has ended cannot be changed", base.ID)
		}
	case isOpen && now != nil && now.Until == 0: // it holds again
	case isOpen:
		return c.revert(line, func(r *annotator.Revision) bool {
			var set annotator.Claim
			return r.Field == annotator.FieldClaim && json.Unmarshal([]byte(r.New), &set) == nil &&
				set.ID == base.ID && set.Until != 0
		})
	case now == nil || now.Until != 0: // it has ended
	case file.Ended == annotator.EndWrong && !reworded:
		c.want(line, annotator.Operation{Do: annotator.DeedReject, Fact: base.ID, Was: base.Text})
	case file.Ended == annotator.EndOver && base.State && !reworded:
		c.want(line, annotator.Operation{Do: annotator.DeedEnd, Fact: base.ID, Was: base.Text})
	default:
		c.leave(line, "that fact %d has ended so cannot be set: it may be %q, and a state may be %q", base.ID,
			annotator.EndWrong, annotator.EndOver)
	}
	return nil
}

// quotationKey identifies a quotation of a fact.
type quotationKey struct {
	post       int64
	start, end int
	quote      string
}

func keysOf(evidence []annotator.Evidence) map[quotationKey]bool {
	keys := map[quotationKey]bool{}
	for _, v := range evidence {
		keys[quotationKey{v.Post, v.Start, v.End, v.Quote}] = true
	}
	return keys
}

// dropQuotations takes away the quotations that the file does not have.
func (c *entryComparison) dropQuotations(i int, base *annotator.Claim, text string, isOpen bool) error {
	if !c.has("claims", i, "evidence") {
		return nil
	}
	kept := map[quotationKey]bool{}
	for _, v := range c.file.Claims[i].Evidence {
		kept[quotationKey{v.Post, v.Start, v.End, v.Quote}] = true
	}
	now := keysOf(codex.Quotations(c.now, base.ID))
	for _, v := range base.Evidence {
		key := quotationKey{v.Post, v.Start, v.End, v.Quote}
		switch {
		case kept[key], isOpen && !now[key], !isOpen && text != base.Text && c.holds(text):
		case !isOpen && base.Until == 0:
			c.conflict(c.line("claims", i, "evidence"), "fact %d has ended since, and keeps its quotations", base.ID)
		case !isOpen:
			c.leave(c.line("claims", i, "evidence"), "fact %d has ended, and keeps its quotations", base.ID)
		default:
			err := c.revert(c.line("claims", i, "evidence"), func(r *annotator.Revision) bool {
				var set annotator.Evidence
				return r.Field == annotator.FieldEvidence && r.New != "" &&
					json.Unmarshal([]byte(r.New), &set) == nil && set.Claim == base.ID &&
					key == quotationKey{set.Post, set.Start, set.End, set.Quote}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// newQuotations returns the operations that add quotations to the fact with these words. It reports whether all of them
// were found. Otherwise none is changed, because one that is edited is one taken away and one added.
func (c *entryComparison) newQuotations(i int, base *annotator.Claim, text string, isOpen bool,
) (added []wanted, allFound bool, err error) {
	was := keysOf(base.Evidence)
	for n, v := range c.file.Claims[i].Evidence {
		line := c.line("claims", i, "evidence", n)
		switch {
		case was[quotationKey{v.Post, v.Start, v.End, v.Quote}]:
			continue
		case base.Until != 0:
			c.leave(line, "fact %d has ended, and gets no quotation", base.ID)
			return nil, false, nil
		case !isOpen && !c.holds(text):
			c.conflict(line, "fact %d has ended since, and gets no quotation", base.ID)
			return nil, false, nil
		}
		found, err := c.ground(line, v)
		if err != nil || found == nil {
			return nil, false, err
		}
		added = append(added, wanted{line, annotator.Operation{
			Do: annotator.DeedAdd, Text: text, Kind: base.Kind, Speaker: base.Speaker, Evidence: found,
		}})
	}
	return added, true, nil
}

// ground returns a quotation of the file as it stands in its post; nil if it does not.
func (c *entryComparison) ground(line int, v exporters.Evidence) (*annotator.Evidence, error) {
	found, err := c.Ground(v.Post, v.Quote)
	switch annotator.KindOf(err) {
	case "":
		return &found, nil
	case annotator.NotFound, annotator.Misused:
		c.leave(line, "%v", err)
		return nil, nil
	}
	return nil, err
}

// addClaim adds the fact of the file with an index, and each of its quotations.
func (c *entryComparison) addClaim(i int) error {
	file, line := &c.file.Claims[i], c.line("claims", i)
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"document", file.Document != ""},
		{"earlier", file.Earlier},
		{"as", file.As != ""},
		{"until", file.Until != nil},
		{"ended", file.Ended != ""},
		{"replaced_by", file.ReplacedBy != 0},
		{"moved_to", file.MovedTo != 0},
	} {
		if field.set {
			c.leave(c.line("claims", i, field.name), "%q of a new fact cannot be set", field.name)
			return nil
		}
	}
	text := strings.Join(strings.Fields(codex.Clean(file.Text)), " ")
	kinds := []annotator.ClaimKind{
		"", annotator.Narrated, annotator.Claimed, annotator.Inferred, annotator.Noted,
	}
	if !slices.Contains(kinds, file.Kind) {
		c.leave(c.line("claims", i, "kind"), "there is no kind %.40q", file.Kind)
		return nil
	}
	op := annotator.Operation{
		Do: annotator.DeedAdd, Text: text, Kind: file.Kind, Speaker: file.Speaker, State: file.State,
		Identity: file.Identity, Relation: codex.CleanName(file.Relation), Object: codex.CleanName(file.Object),
	}
	for _, is := range c.now.Claims {
		if is.ID > c.base.Claimed && is.Until != 0 && codex.Normalize(is.Text) == codex.Normalize(text) {
			c.conflict(line, "the fact %s was added since, and has ended", quoted(text))
			return nil
		}
	}
	if len(file.Evidence) == 0 {
		c.want(line, op)
	}
	for n, v := range file.Evidence {
		found, err := c.ground(cmp.Or(c.line("claims", i, "evidence", n), line), v)
		if err != nil {
			return err
		}
		if found == nil {
			return nil
		}
		op.Evidence = found
		c.want(line, op)
	}
	return nil
}
