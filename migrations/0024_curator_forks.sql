-- Which entries the turns of a summary created or changed follows from their revisions, and its scenes are from_scene to to_scene.
ALTER TABLE episode DROP COLUMN entries;
ALTER TABLE episode DROP COLUMN scenes;
