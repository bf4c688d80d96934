-- What the user chose that shapes the system prompt and the list of tools, as a JSON object. A prompt that changed under the same
-- choice changed with the program's version. Empty: recorded by a version that did not keep it.
ALTER TABLE snapshot_context ADD COLUMN settings TEXT NOT NULL DEFAULT '';
