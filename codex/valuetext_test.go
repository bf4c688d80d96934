package codex_test

import (
	"testing"

	"annotator"
	"annotator/codex"
)

func TestValueText(t *testing.T) {
	t.Parallel()
	at := func(p annotator.Place) annotator.Position { return annotator.Position{Scene: int(p.Order())} }
	for _, c := range []struct {
		field    annotator.Field
		recorded string
		want     string
	}{
		{annotator.FieldTerm, `{"name":"as it is"}`, `{"name":"as it is"}`},
		{annotator.FieldAlias, `{"name":"Marrow","from":1000000}`, "Marrow"},
		{annotator.FieldAlias, "Marrow", "Marrow"},
		{annotator.FieldClaim, `{"id":1,"text":"She sails.","until":2000001}`, "She sails. (until scene 2)"},
		{annotator.FieldClaim, `{"text":"It burns.","until":2000001,"ended":"over"}`, "It burns. (until scene 2)"},
		{annotator.FieldClaim, `{"text":"A.","until":3000001,"ended":"confirmed"}`, "A. (confirmed in scene 3)"},
		{annotator.FieldClaim, `{"text":"A.","until":3000001,"ended":"refuted"}`, "A. (refuted in scene 3)"},
		{annotator.FieldClaim, `{"text":"A.","until":3000001,"ended":"wrong"}`, "A. (found wrong in scene 3)"},
		{annotator.FieldClaim, `{"text":"A.","until":3000001,"ended":"reworded"}`, "A. (reworded in scene 3)"},
		{
			annotator.FieldClaim, `{"text":"A.","identity":true,"until":3000001,"ended":"moved","moved_to":7}`,
			"A. (identity) (moved to #7 in scene 3)",
		},
		{annotator.FieldEvidence, `{"claim":1,"quote":"she sailed"}`, "she sailed"},
		{
			annotator.FieldCuratorDecision, `{"decision":"MERGE","target":7,"reason":"the same"}`,
			"MERGE into #7: the same",
		},
		{annotator.FieldCuratorDecision, "", ""},
	} {
		if got := codex.ValueText(c.field, c.recorded, at); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.field, c.recorded, got, c.want)
		}
	}
}
