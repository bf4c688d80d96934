-- Which entries the turns of a summary created or changed follows from their revisions, and its scenes are from_scene to to_scene.
ALTER TABLE episode DROP COLUMN entries;
ALTER TABLE episode DROP COLUMN scenes;

-- What a question to the curator shows beside itself, which is the row that a snapshot of the type 'curator_fork' ends with.
ALTER TABLE snapshot ADD COLUMN before_turn INTEGER NOT NULL DEFAULT 0; -- of a curator_fork: the turns of the window before this one; 0: all
ALTER TABLE snapshot ADD COLUMN alone INTEGER NOT NULL DEFAULT 0 CHECK (alone IN (0, 1)); -- 1: of a curator_fork: nothing of the window
