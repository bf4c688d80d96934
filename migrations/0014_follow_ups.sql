-- A reply may say that its scene is worked through. Whether a model that does not say so is asked for more is learned from what its
-- former scenes tell.
ALTER TABLE scene ADD COLUMN follow_up TEXT NOT NULL DEFAULT '' CHECK (follow_up IN ('', 'edits', 'nothing', 'left out')); -- what requests for more brought; empty where the scene tells nothing of them
CREATE INDEX scene_follow_up ON scene (turn) WHERE follow_up <> '';
