package storage

// invariant is a law that a query can prove: each row it returns is a violation.
type invariant struct {
	check, law, query string
}

// invariants are the laws of the tables. What takes more than a query to prove, Verify adds.
var invariants = [...]invariant{
	{
		"foreign keys", "every reference leads somewhere",
		`SELECT "table" || ' row ' || coalesce(rowid, '?') || ' refers to a missing ' || parent
		  FROM pragma_foreign_key_check`,
	},
	{
		"journal order", "the journal's ids have no gap, and the rows of a turn are numbered from 0",
		`SELECT 'journal: ' || count(*) || ' rows, newest id ' || max(id) FROM trace
		  HAVING count(*) > 0 AND count(*) <> max(id)
		 UNION ALL SELECT 'turn ' || turn || ': ' || count(*) || ' rows, newest seq ' || max(seq) FROM trace
		  WHERE turn > 0 GROUP BY turn HAVING count(*) <> max(seq) + 1`,
	},
	{
		"turns", "a turn begins with its scene, belongs to one scene, and turns are numbered from 1",
		`SELECT 'turn ' || turn || ' begins with ' || kind FROM trace WHERE seq = 0 AND turn > 0 AND kind <> 'scene'
		 UNION ALL SELECT 'turn ' || turn || ' holds ' || count(DISTINCT scene) || ' scenes' FROM trace WHERE turn > 0
		  GROUP BY turn HAVING count(DISTINCT scene) <> 1
		 UNION ALL SELECT 'newest turn is ' || r.turn || ', the journal has ' || t.n
		  FROM run_state r, (SELECT count(DISTINCT turn) AS n FROM trace WHERE turn > 0) t
		  WHERE r.turn <> t.n`,
	},
	{
		"call and result", "a tool call has one result, in its turn, unless its turn is still open",
		`SELECT 'call ' || call_id || ' of turn ' || turn || ' has no result' FROM tool_interaction
		  WHERE status = 'PENDING' AND scene <> (SELECT open_scene FROM run_state)
		 UNION ALL SELECT 'result ' || r.call_id || ' of turn ' || r.turn || ' answers no call' FROM trace r
		  WHERE r.kind = 'tool_result'
		  AND NOT EXISTS (SELECT 1 FROM trace c WHERE c.kind = 'tool_call' AND c.call_id = r.call_id AND c.turn = r.turn
		    AND c.id < r.id)`,
	},
	{
		"decisions", "the edits of a decision are rows of the journal",
		`SELECT 'decision ' || d.id || ' names row ' || (e.value ->> '$.row') FROM decision d, json_each(d.edits) e
		  WHERE e.value ->> '$.row' > 0
		  AND NOT EXISTS (SELECT 1 FROM trace t WHERE t.id = e.value ->> '$.row' AND t.kind = 'edit')`,
	},
	{
		// An answer with present statements also ends states, which are claims. One about phrases adds names, and one
		// about redundant entries merges and retires.
		"effects", "every change by the model committed with the result of a tool that succeeded, in the same turn; " +
			"every one by the curator with its answer, and every one by a person with a row for the edit; those of a " +
			"part of the story were replayed with a row for a step of the join",
		`WITH joined AS MATERIALIZED (SELECT id FROM trace WHERE kind = 'join'),
		  answered AS MATERIALIZED (SELECT trace_id, purpose FROM call
		  WHERE outcome = 'ok' AND purpose IN ('curate', 'summarise')
		  UNION ALL SELECT r.trace_id, 'redundant' FROM value d JOIN revision r ON r.id = d.set_by
		  JOIN call c ON c.trace_id = r.trace_id AND c.outcome = 'ok' AND c.purpose = 'summarise'
		  WHERE d.field = 'curator_decision' AND d.json ->> '$.decision' IN ('DROP', 'MERGE'))
		 SELECT 'revision ' || v.id || ' has no successful tool result' FROM revision v
		  WHERE v.actor = 'model' AND v.trace_id NOT IN joined AND NOT EXISTS
		  (SELECT 1 FROM trace t WHERE t.id = v.trace_id AND t.kind IN ('tool_result', 'update') AND t.error = ''
		    AND t.turn = v.turn)
		 UNION ALL SELECT 'revision ' || v.id || ' has no answer of the curator' FROM revision v
		  WHERE v.actor = 'curator' AND coalesce(v.trace_id, 0) NOT IN joined
		  AND NOT EXISTS (SELECT 1 FROM answered a WHERE a.trace_id = v.trace_id
		    AND (a.purpose IN ('curate', 'redundant') OR a.purpose = 'summarise' AND (v.field IN ('present', 'claim')
		      OR v.field = 'alias' AND EXISTS
		      (SELECT 1 FROM trace t WHERE t.id = v.trace_id AND instr(t.parsed, '"phrases"') > 0))))
		 UNION ALL SELECT 'revision ' || v.id || ' has no edit of a person' FROM revision v
		  WHERE coalesce(v.trace_id, 0) NOT IN joined
		  AND (v.actor = 'person') <> EXISTS (SELECT 1 FROM trace t WHERE t.id = v.trace_id AND t.kind = 'edit'
		    AND t.error = '' AND t.turn = 0 AND v.turn = 0)
		 UNION ALL SELECT 'revision ' || id || ' has a row of the journal that is not there' FROM revision
		  WHERE trace_id NOT IN (SELECT id FROM trace)`,
	},
	{
		"decisions", "a decision is about a tool's result, what was denied changed nothing, and where intents are " +
			"asked for every result has one",
		`SELECT 'decision ' || d.trace_id || ' is about a ' || t.kind FROM tool_decision d
		  JOIN trace t ON t.id = d.trace_id WHERE t.kind NOT IN ('tool_result', 'update')
		 UNION ALL SELECT 'call ' || t.call_id || ' was denied, and ran' FROM tool_decision d
		  JOIN trace t ON t.id = d.trace_id
		  WHERE d.verdict = 'deny' AND (t.error = '' OR d.trace_id IN (SELECT trace_id FROM revision))
		 UNION ALL SELECT 'call ' || t.call_id || ' has no decision' FROM
		  (SELECT id AS first, lead(id, 1, 1 << 62) OVER (ORDER BY id) AS next, content FROM trace
		    WHERE kind = 'prompt') p
		  JOIN snapshot_context c ON c.id = CAST(p.content AS INTEGER)
		  AND 'select_active_intent' IN (SELECT value ->> 'name' FROM json_each(c.tools))
		  JOIN trace t ON t.id > p.first AND t.id < p.next
		  WHERE t.kind IN ('tool_result', 'update') AND t.id NOT IN (SELECT trace_id FROM tool_decision)`,
	},
	{
		"revisions", "revisions are numbered without a gap",
		`SELECT count(*) || ' revisions, newest ' || max(id) FROM revision HAVING count(*) > 0 AND count(*) <> max(id)`,
	},
	{
		"scenes", "scenes are numbered without a gap, and those of a thread follow each other, from its first to its " +
			"last one",
		`SELECT count(*) || ' scenes, last is ' || max(n) FROM scene HAVING count(*) > 0 AND count(*) <> max(n)
		 UNION ALL SELECT 'thread ' || t.thread_id || ' spans scenes ' || first_scene || ' to ' || last_scene ||
		     ', has ' || count(s.n)
		  FROM thread_state t JOIN scene a ON a.n = first_scene JOIN scene z ON z.n = last_scene
		  LEFT JOIN scene s ON s.ord BETWEEN a.ord AND z.ord AND s.thread_id = t.thread_id AND s.state <> 'withdrawn'
		  GROUP BY t.thread_id
		  HAVING count(s.n) <> (SELECT count(*) FROM scene WHERE ord BETWEEN a.ord AND z.ord AND state <> 'withdrawn')
		    OR count(s.n) <> (SELECT count(*) FROM scene WHERE thread_id = t.thread_id AND state <> 'withdrawn')
		 UNION ALL SELECT 'thread ' || thread_id || ' has no scenes ' || first_scene || ' and ' || last_scene
		  FROM thread_state WHERE (SELECT count(*) FROM scene WHERE n IN (first_scene, last_scene))
		    <> 1 + (first_scene <> last_scene)
		 UNION ALL SELECT 'scene ' || s.n || ' is in another block' FROM scene s LEFT JOIN scene l ON l.ord = s.block
		  LEFT JOIN scene next ON next.n = s.n + 1
		  WHERE l.n IS NULL OR l.block <> l.ord OR l.thread_id <> s.thread_id OR l.n - s.n NOT BETWEEN 0 AND 59
		    OR l.n > s.n AND (next.block, next.ord > s.ord) IS NOT (s.block, 1)
		 UNION ALL SELECT 'post ' || post_id || ' is at a place without it' FROM (
		  SELECT post_id, place FROM scene_post EXCEPT SELECT p.value, s.ord * 1000000 + p.key FROM scene s
		    JOIN json_each(iif(json_valid(s.posts), s.posts, '[]')) p)`,
	},
	{
		"former posts", "no pending scene has a post whose text the source no longer has, a withdrawn scene was " +
			"never read, and no name is found in such a post",
		`SELECT 'scene ' || s.n || ' is pending, and has former text' FROM scene_post p
		  JOIN scene s ON s.ord = p.place / 1000000 WHERE p.former = 1 AND s.state = 'pending'
		 UNION ALL SELECT 'scene ' || n || ' is withdrawn, and was read' FROM scene
		  WHERE state = 'withdrawn' AND (turn <> 0 OR recorded_at IS NOT NULL)
		 UNION ALL SELECT 'entry ' || m.entry_id || ' is mentioned in former post ' || p.post_id FROM scene_post p
		  JOIN mention m ON m.place = p.place AND m.ended_by IS NULL WHERE p.former = 1`,
	},
	{
		"recorded once", "a scene is recorded at most once, in story order, and the run's counts say how many",
		`SELECT 'scene ' || n || ' is pending before recorded ones' FROM
		  (SELECT n, ord, state, attempts, max(ord) FILTER (WHERE state IN ('recorded', 'quarantined'))
		    OVER (ORDER BY n DESC) AS last FROM scene) -- scenes with a lower number were there when those were read
		  WHERE state = 'pending' AND ord < last AND attempts = 0 AND n NOT IN (SELECT scene FROM refusal)
		 UNION ALL SELECT 'run counts ' || r.recorded || ' recorded and ' || r.quarantined ||
		     ' quarantined scenes; there are ' || s.r || ' and ' || s.q
		  FROM run_state r, (SELECT coalesce(sum(state = 'recorded'), 0) AS r,
		    coalesce(sum(state = 'quarantined'), 0) AS q FROM scene) s
		  WHERE r.recorded <> s.r OR r.quarantined <> s.q
		 UNION ALL SELECT 'scene ' || s.n || ' was ended by turn ' || s.turn || ', which is not its own' FROM scene s
		  WHERE s.turn <> 0 AND NOT EXISTS (SELECT 1 FROM trace t WHERE t.turn = s.turn AND t.seq = 0 AND t.scene = s.n)
		 UNION ALL SELECT 'turn ' || s.turn || ' ended ' || count(*) || ' scenes' FROM scene s WHERE s.turn <> 0
		  GROUP BY s.turn HAVING count(*) > 1`,
	},
	{
		"follow-ups", "a scene that tells of requests for more is recorded; one that had them has a second reply, " +
			"and one without ends with a closing line",
		`SELECT 'scene ' || n || ' is ' || state || ', and tells of requests for more' FROM scene
		  WHERE follow_up <> '' AND state <> 'recorded'
		 UNION ALL SELECT 'scene ' || n || ' was asked for more, and has one reply' FROM scene s
		  WHERE follow_up IN ('edits', 'nothing')
		  AND (SELECT count(*) FROM trace t WHERE t.turn = s.turn AND t.kind = 'reply') < 2
		 UNION ALL SELECT 'scene ' || n || ' was not asked for more, and does not end with a closing line' FROM scene s
		  WHERE follow_up = 'left out'
		  AND (SELECT kind FROM trace t WHERE t.turn = s.turn ORDER BY seq DESC LIMIT 1) <> 'close'`,
	},
	{
		"open scene", "at most one scene is open: the one the run names",
		`SELECT 'scene ' || n || ' is open, the run names ' || (SELECT open_scene FROM run_state) FROM scene
		  WHERE state = 'open' AND n <> (SELECT open_scene FROM run_state)`,
	},
	{
		"checkpoints", "every scene has a checkpoint for each time it ended, but for the one whose checkpoint is due",
		`SELECT 'scene ' || s.n || ' has ' || count(p.id) || ' checkpoints' FROM scene s
		  LEFT JOIN snapshot p ON p.scene = s.n AND p.type = 'checkpoint'
		  WHERE s.n <> (SELECT open_scene FROM run_state) GROUP BY s.n
		  HAVING count(p.id) <> (s.state IN ('recorded', 'quarantined')) + (SELECT count(*) FROM refusal f
		    WHERE f.scene = s.n)`,
	},
	{
		"refusals", "what a scene was refused for is on record, also when it is put back to be read, and its turn " +
			"stays out of the window",
		`SELECT 'scene ' || scene || ': ' || count(*) || ' refusals, newest ' || max(nth) FROM refusal GROUP BY scene
		  HAVING count(*) <> max(nth)
		 UNION ALL SELECT 'scene ' || f.scene || ' was refused in turn ' || f.turn || ', which is not its own'
		  FROM refusal f WHERE f.turn <> 0 AND NOT EXISTS (SELECT 1 FROM trace t
		    WHERE t.turn = f.turn AND t.seq = 0 AND t.scene = f.scene)
		 UNION ALL SELECT 'turn ' || turn || ' of scene ' || scene || ', which was refused, is in the window' FROM
		  (SELECT scene, turn FROM refusal UNION ALL SELECT n, turn FROM scene WHERE state = 'quarantined')
		  WHERE turn <> 0 AND turn NOT IN (SELECT only_turn FROM compaction)
		 UNION ALL SELECT 'scene ' || n || ' is quarantined, and nothing says why' FROM scene
		  WHERE state = 'quarantined' AND reason = ''
		 UNION ALL SELECT 'scene ' || n || ' is ' || state || ', and has a fault' FROM scene
		  WHERE state <> 'quarantined' AND fault <> ''`,
	},
	{
		"snapshots", "a snapshot points into the journal and the revisions, never back, to what was in force",
		`SELECT 'snapshot ' || id || ' points past the end' FROM snapshot
		  WHERE trace_id > (SELECT coalesce(max(id), 0) FROM trace)
		     OR revision_id > (SELECT coalesce(max(id), 0) FROM revision)
		 UNION ALL SELECT 'snapshot ' || id || ' points before the one before it' FROM
		  (SELECT id, trace_id, revision_id, lag(trace_id) OVER w AS t, lag(revision_id) OVER w AS r
		    FROM snapshot WINDOW w AS (ORDER BY id))
		  WHERE trace_id < t OR revision_id < r
		 UNION ALL SELECT 'snapshot ' || s.id || ' has revision ' || v.id || ', which was not made yet' FROM snapshot s
		  JOIN revision v ON v.id = s.revision_id WHERE v.trace_id > s.trace_id
		 UNION ALL SELECT 'snapshot ' || s.id || ' lacks revision ' || v.id FROM snapshot s
		  JOIN revision v ON v.id = s.revision_id + 1 WHERE v.trace_id <= s.trace_id
		 UNION ALL SELECT 'snapshot ' || s.id || ' of scene ' || s.scene || ' is not in thread ' || s.thread_id
		  FROM snapshot s WHERE s.thread_id IS NOT (SELECT thread_id FROM scene WHERE n = s.scene)
		 UNION ALL SELECT 'snapshot ' || s.id || ' has prompt ' || s.context_id || '; prompt ' || p.content ||
		     ' was in force' FROM
		  (SELECT id AS first, lead(id, 1, 1 << 62) OVER (ORDER BY id) AS next, content FROM trace
		    WHERE kind = 'prompt') p
		  CROSS JOIN snapshot s ON s.trace_id >= p.first AND s.trace_id < p.next
		  WHERE s.context_id <> CAST(p.content AS INTEGER)
		    AND NOT (s.type = 'curator_fork' AND EXISTS (SELECT 1 FROM snapshot_context c
		      WHERE c.id = s.context_id AND c.tools = ''))
		 UNION ALL SELECT 'snapshot ' || s.id || ' ends with ' || count(t.id) || ' questions to the curator'
		  FROM snapshot s
		  LEFT JOIN trace t ON t.id = s.trace_id AND t.kind = 'note' AND t.turn = 0 WHERE s.type = 'curator_fork'
		  GROUP BY s.id HAVING count(t.id) <> 1
		 UNION ALL SELECT 'the question in row ' || trace_id || ' has ' || count(*) || ' snapshots' FROM snapshot
		  WHERE type = 'curator_fork' GROUP BY trace_id HAVING count(*) > 1
		 UNION ALL SELECT 'snapshot ' || id || ' is no question to the curator, and leaves out a part of the window'
		  FROM snapshot WHERE type <> 'curator_fork' AND (before_turn <> 0 OR alone)`,
	},
	{
		"threads", "threads are in story order, and one is completed exactly when its last scene is done",
		`SELECT 'thread ' || t.thread_id || ' is ' || t.status || ', its last scene is ' || s.state FROM thread_state t
		  JOIN scene s ON s.n = t.last_scene WHERE (t.status = 'completed') <> (s.state IN ('recorded', 'quarantined'))
		  AND s.n <> (SELECT open_scene FROM run_state)
		 UNION ALL SELECT 'thread ' || thread_id || ' is out of order' FROM
		  thread_state t WHERE ord IS NOT (SELECT ord FROM scene WHERE n = t.first_scene)
		 UNION ALL SELECT 'thread ' || thread_id ||
		     iif(summary_due, ' waits for no summary', ' waits for a summary') || ', and is kept otherwise'
		  FROM thread_state WHERE summary_due <> (` + summaryDue + `)`,
	},
	{
		"calls", "one call is under way at a time, and what failed says why and what was done about it",
		`SELECT count(*) || ' calls are under way' FROM call WHERE outcome = 'open' HAVING count(*) > 1
		 UNION ALL SELECT 'call ' || id || ' (' || outcome ||
		     ') says nothing of what went wrong, or what was done about it' FROM call
		  WHERE outcome NOT IN ('open', 'ok', 'lost') AND (fault = '' OR decision = '')`,
	},
	{
		"token sums", "the run's totals are the sums over its calls, probes aside",
		`SELECT 'run: ' || r.calls || ' calls, ' || r.prompt_tokens || ' + ' || r.completion_tokens || ' tokens, '
		     || r.cached_tokens || ' of ' || r.told_tokens || ' cached; calls: '
		     || c.n || ', ' || c.p || ' + ' || c.c || ', ' || c.k || ' of ' || c.t FROM run_state r,
		  (SELECT count(*) AS n, coalesce(sum(prompt_tokens), 0) AS p, coalesce(sum(told_tokens), 0) AS t,
		     coalesce(sum(cached_tokens), 0) AS k, coalesce(sum(completion_tokens), 0) AS c FROM call
		   WHERE outcome NOT IN ('open', 'lost') AND purpose <> 'probe') c
		  WHERE (r.calls, r.prompt_tokens, r.told_tokens, r.cached_tokens, r.completion_tokens)
		     <> (c.n, c.p, c.t, c.k, c.c)
		 UNION ALL SELECT 'call ' || id || ': ' || cached_tokens || ' tokens were cached, and of ' || told_tokens ||
		     ' of ' || prompt_tokens || ' it is known'
		  FROM call WHERE NOT cached_tokens <= told_tokens OR NOT told_tokens <= prompt_tokens`,
	},
	{
		"replies", "every reply in the journal came from one call that ended well, and the other way round",
		`SELECT 'reply ' || t.id || ' came from ' || count(c.id) || ' calls' FROM trace t
		  LEFT JOIN call c ON c.trace_id = t.id AND c.outcome = 'ok'
		  WHERE t.kind = 'reply' GROUP BY t.id HAVING count(c.id) <> 1
		 UNION ALL SELECT 'call ' || c.id || ' points at a ' || t.kind FROM call c JOIN trace t ON t.id = c.trace_id
		  WHERE t.kind <> 'reply'`,
	},
	{
		"compactions", "each compaction is a row of the journal, and turns that left the window stay out",
		`SELECT 'journal row ' || t.id || ' has no compaction' FROM trace t
		  WHERE t.kind = 'compaction' AND t.id NOT IN (SELECT trace_id FROM compaction)
		 UNION ALL SELECT 'compaction ' || c.epoch || ' points at a ' || t.kind FROM compaction c
		  JOIN trace t ON t.id = c.trace_id WHERE t.kind <> 'compaction'
		 UNION ALL SELECT 'epoch ' || epoch || ' brings turns back' FROM
		  (SELECT epoch, through_turn, lag(through_turn) OVER (ORDER BY trace_id) AS t,
		    lag(epoch) OVER (ORDER BY trace_id) AS e FROM compaction)
		  WHERE through_turn < t OR epoch <> e + 1
		 UNION ALL SELECT 'epoch ' || c.epoch || ' is not what the journal says' FROM compaction c
		  JOIN trace t ON t.id = c.trace_id WHERE t.kind = 'compaction' AND (c.tier, c.through_turn)
		     IS NOT (t.content ->> 'tier', coalesce(t.content ->> 'through', 0))`,
	},
	{
		"summaries", "a thread has at most one summary up to a scene; when every scene is read, each thread that the " +
			"model has read has one, and the story so far includes all of them",
		`SELECT 'thread ' || thread_id || ' has ' || count(*) || ' summaries' FROM episode
		  WHERE kind = 'thread' AND trace_id > (SELECT summaries_after FROM run_state) GROUP BY thread_id, to_scene
		  HAVING count(*) > 1
		 UNION ALL SELECT 'thread ' || s.thread_id || ' has ended, and has no summary' FROM scene s, run_state r
		  WHERE ` + readToTheEnd + ` AND s.thread_id NOT IN (SELECT thread_id FROM episode WHERE kind = 'thread')
		  GROUP BY s.thread_id
		 UNION ALL SELECT 'scene ' || s.n || ' is not in the story so far' FROM scene s, run_state r
		  WHERE ` + readToTheEnd + ` AND s.ord > (SELECT coalesce(max(t.ord), 0) FROM episode e
		    JOIN scene t ON t.n = e.to_scene WHERE e.kind = 'cumulative')
		 UNION ALL SELECT 'summary ' || e.id || ' covers scenes ' || from_scene || ' to ' || to_scene FROM episode e
		  WHERE NOT (SELECT ord FROM scene WHERE n = e.from_scene) <= (SELECT ord FROM scene WHERE n = e.to_scene)`,
	},
	{
		"conversations", "each answer out of a snapshot came from one call that asked, and a conversation of the " +
			"model ends with its scene",
		`SELECT 'conversation ' || m.id || ' is open, the scene of turn ' || m.turn || ' is not' FROM summon m
		  WHERE m.asker = 'model' AND m.dismissed_at IS NULL
		  AND NOT EXISTS (SELECT 1 FROM trace t JOIN scene s ON s.n = t.scene
		    WHERE t.turn = m.turn AND t.seq = 0 AND s.state = 'open')
		 UNION ALL SELECT 'conversation ' || m.id || ': ' || count(x.seq) || ' exchanges, newest ' ||
		     coalesce(max(x.seq), 'none')
		  FROM summon m LEFT JOIN summon_exchange x ON x.summon_id = m.id GROUP BY m.id
		  HAVING count(x.seq) <> coalesce(max(x.seq) + 1, -1)
		 UNION ALL SELECT 'an answer in conversation ' || x.summon_id || ' came from call ' || c.id || ', which is to '
		     || c.purpose || ': ' || c.outcome
		  FROM summon_exchange x JOIN call c ON c.id = x.call_id WHERE c.purpose <> 'ask' OR c.outcome <> 'ok'
		 UNION ALL SELECT 'the answer that call ' || id || ' brought is gone' FROM call
		  WHERE purpose = 'ask' AND outcome = 'ok' AND id NOT IN (SELECT call_id FROM summon_exchange)`,
	},
	{
		"findings", "each finding came from one call that checked a chapter, and is about a claim that was made",
		`SELECT 'finding ' || f.key || ' came from call ' || c.id || ', which is to ' || c.purpose || ': ' || c.outcome
		  FROM finding f JOIN call c ON c.id = f.call_id WHERE c.purpose <> 'check' OR c.outcome <> 'ok'
		 UNION ALL SELECT 'finding ' || key || ' is about claim ' || claim || ' of entry ' || entry_id ||
		     ', which has none'
		  FROM finding f WHERE NOT EXISTS (SELECT 1 FROM value v
		    WHERE v.entry_id = f.entry_id AND v.field = 'claim' AND v.key = CAST(f.claim AS TEXT))`,
	},
	{
		"live entries", "the run's count of live entries is right",
		`SELECT 'run counts ' || r.entries || ' live entries; there are ' || e.n FROM run_state r,
		  (SELECT count(*) AS n FROM entry WHERE name IS NOT NULL) e WHERE r.entries <> e.n`,
	},
	{
		"mention counts", "the counts of mentions are those of the mentions",
		`WITH counted AS MATERIALIZED (` + allCountRows + `)
		 SELECT 'the mentions of entry ' || entry_id || ' from scene ' || block || ' on are miscounted' FROM
		  (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM mention_count)
		   UNION SELECT * FROM (SELECT * FROM mention_count EXCEPT SELECT * FROM counted))
		  GROUP BY entry_id, block
		 UNION ALL SELECT 'entry ' || t.entry_id || ' was mentioned ' || total(m.meant) || ' times in all, not ' ||
		     t.mentions
		  FROM mention_total t LEFT JOIN mention m USING (entry_id) GROUP BY t.entry_id
		  HAVING total(m.meant) <> t.mentions
		 UNION ALL SELECT 'entry ' || entry_id || ' has no total of its mentions' FROM mention
		  WHERE entry_id NOT IN (SELECT entry_id FROM mention_total) GROUP BY entry_id`,
	},
	{
		"merges", "an entry that is merged names the entry that took its place, and no other does",
		`SELECT 'entry ' || e.id || ' is ' || e.status || ', merged into ' || e.merged_into FROM glossary_entry e
		  WHERE (e.status = 'merged') <> (e.merged_into <> 0)
		     OR e.merged_into <> 0 AND (e.merged_into = e.id OR NOT EXISTS (SELECT 1 FROM glossary_entry t
		       WHERE t.id = e.merged_into))`,
	},
	{
		"facts", "what took a claim's place is another claim of the entry, a claim that was replaced is closed, one " +
			"that ended did so in a known way, a speaker claims, as does a document, what was earlier is no state, " +
			"and what has an object has a relation",
		`SELECT 'claim ' || c.id || ' of entry ' || c.entry_id || ' was replaced by ' || c.replaced_by FROM claim c
		  WHERE c.replaced_by <> 0 AND (c.until_at = 0 OR c.replaced_by = c.id
		    OR NOT EXISTS (SELECT 1 FROM claim o WHERE o.entry_id = c.entry_id AND o.id = c.replaced_by))
		 UNION ALL SELECT 'claim ' || id || ' of entry ' || entry_id || ' is ' || kind || ', and has a speaker'
		  FROM claim WHERE speaker <> '' AND kind <> 'claimed'
		 UNION ALL SELECT 'claim ' || key || ' of entry ' || entry_id || CASE
		     WHEN json ->> 'document' <> '' AND json ->> 'kind' <> 'claimed' THEN ' is not claimed, and has a document'
		     WHEN json ->> 'earlier' AND json ->> 'state' THEN ' is of an earlier time, and a state'
		     WHEN json ->> 'object' <> '' AND json ->> 'relation' IS NULL THEN ' has an object, and no relation'
		     WHEN json ->> 'as' = '' THEN ' comes from an entry without a name'
		     WHEN (json ->> 'ended' IS 'moved') <> (json ->> 'moved_to' > 0 IS TRUE)
		     THEN ' moved to no entry, or did not'
		     WHEN json ->> 'ended' <> '' AND (holds = 1
		       OR json ->> 'ended' NOT IN ('confirmed', 'refuted', 'over', 'wrong', 'reworded', 'moved'))
		     THEN ' ended as ' || (json ->> 'ended') END AS wrong
		  FROM value WHERE field = 'claim' AND ended_by IS NULL AND wrong IS NOT NULL
		 UNION ALL SELECT 'entry ' || id || ' has a present statement of place ' || present_at FROM glossary_entry
		  WHERE (present = '') <> (present_at = 0) OR present_at > last_at`,
	},
	{
		"outgrown states", "a state or guess that an answer about states has ended was asked about, and was open; " +
			"the fact by which it ended was there, and is told no later than it ended",
		`WITH ended AS MATERIALIZED (SELECT d.entry_id, d.set_by, r.trace_id, d.json ->> '$.states' AS states,
		    e.value ->> 'state' AS state, coalesce(e.value ->> 'by_entry', 0) AS by_entry,
		    coalesce(e.value ->> 'by', 0) AS fact
		  FROM value d JOIN revision r ON r.id = d.set_by JOIN json_each(d.json, '$.ended') e
		  WHERE d.field = 'curator_decision' AND instr(d.json, '"decision":"STATES"'))
		 SELECT 'revision ' || set_by || ' ends state ' || state || ' of entry ' || entry_id || CASE
		     WHEN state NOT IN (SELECT value FROM json_each(states)) THEN ', which it did not ask about'
		     WHEN until IS NULL THEN ', which was not open'
		     WHEN fact <> 0 AND NOT EXISTS (SELECT 1 FROM value b WHERE b.entry_id = by_entry AND b.field = 'claim'
		       AND b.key = CAST(fact AS TEXT) AND b.set_by < e.set_by AND b.json ->> 'from' <= until)
		     THEN ' by fact ' || fact || ' of entry ' || by_entry || ', which was not told by then' END AS wrong
		  FROM (SELECT *, (SELECT c.json ->> 'until' FROM value c JOIN revision r ON r.id = c.set_by
		      JOIN value o ON o.ended_by = c.set_by
		      WHERE c.entry_id = ended.entry_id AND c.field = 'claim' AND c.key = CAST(state AS TEXT) AND c.holds = 0
		        AND r.trace_id = ended.trace_id AND r.id > ended.set_by AND o.holds = 1 AND o.key = c.key
		        AND (o.json ->> 'state' OR o.json ->> 'kind' = 'inferred')) AS until FROM ended) e
		  WHERE wrong IS NOT NULL`,
	},
	{
		"entries", "an entry's row has the status and the name that its values say, and the counts of its revisions " +
			"and claims",
		`SELECT 'the row of entry ' || id || ' is not what its values and revisions add up to' FROM entry
		  WHERE (status, name, first_at, last_at, revisions, revision, claims, changes, claimed)
		     IS NOT (SELECT * FROM (` + entryRow + `))`,
	},
	{
		"values", "a value is in force from the revision that set it to the one that ended it, and no two with the " +
			"same key at once",
		`SELECT 'value ' || a.id || ' of entry ' || a.entry_id || ' is in force when ' || b.id || ' is' FROM value a
		  JOIN value b ON b.entry_id = a.entry_id AND b.field = a.field AND b.set_by > a.set_by
		    AND (b.key = a.key OR a.field IN ('term', 'present', 'status'))
		  WHERE a.ended_by IS NULL OR a.ended_by > b.set_by OR a.until_seen > b.from_seen
		 UNION ALL SELECT 'value ' || v.id || ' does not say when it was set' FROM value v
		  LEFT JOIN revision r ON r.id = v.set_by
		  WHERE (v.id, v.entry_id, v.from_seen) IS NOT (((r.seen << 20) | (r.id & 1048575)), r.entry_id, r.seen)
		 UNION ALL SELECT 'value ' || v.id || ' does not say when it ended' FROM value v
		  LEFT JOIN revision r ON r.id = v.ended_by
		  WHERE v.ended_by IS NOT NULL AND ((v.entry_id, v.until_seen) IS NOT (r.entry_id, r.seen)
		    OR v.ended_by < v.set_by OR v.until_seen < v.from_seen)`,
	},
	{
		"evidence", "a quotation is as long as its range",
		`SELECT 'evidence ' || id || ' of entry ' || entry_id || ': ' || (end_at - start_at) || ' characters, quotes '
		  || length(quote) FROM evidence WHERE length(quote) <> end_at - start_at`,
	},
}

// readToTheEnd is a condition on scenes s of a run r that has read its whole story. It selects the scenes that the
// model has read in story order since threads are summarised. If the source loses what was still to be read, the
// questions at the end are asked with the next scene that is read.
const readToTheEnd = `r.state IN ('NO_MORE', 'CURATING') AND r.open_scene = 0
	AND NOT EXISTS (SELECT 1 FROM scene WHERE state IN ('pending', 'open', 'withdrawn'))
		  AND s.state = 'recorded' AND s.turn > 0 AND s.n NOT IN (SELECT scene FROM refusal)
		  AND (SELECT max(t.id) FROM trace t WHERE t.turn = s.turn) > r.summaries_after`
