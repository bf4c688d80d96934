-- What a run asks of its calls before it goes on is in few of them: it must not take longer the more there are.
CREATE INDEX call_beside ON call (purpose, id) WHERE purpose <> 'annotate';
CREATE INDEX call_shrink ON call (id) WHERE outcome = 'shrink';
