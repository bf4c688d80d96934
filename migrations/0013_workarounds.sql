ALTER TABLE snapshot_context ADD COLUMN workarounds TEXT NOT NULL DEFAULT ''; -- how messages are rendered otherwise, for the server's chat template: names
