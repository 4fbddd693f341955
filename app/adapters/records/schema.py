"""The tables, version by version. A store of an older version is brought up to date; a newer one is refused.

A version that was released is never changed: add another.
"""

RECORDS = """
CREATE TABLE records (
    id TEXT PRIMARY KEY, seq BIGINT NOT NULL UNIQUE, at BIGINT NOT NULL, key_id TEXT, model TEXT NOT NULL,
    outcome TEXT NOT NULL, terms TEXT NOT NULL, sealed TEXT NOT NULL, hash TEXT NOT NULL, erased_at BIGINT
);
CREATE INDEX records_at ON records (at);
CREATE TABLE personal (
    record_id TEXT PRIMARY KEY, subject TEXT, salt TEXT NOT NULL, request TEXT NOT NULL, start TEXT NOT NULL,
    plans TEXT NOT NULL, summary TEXT, answer_sha256 TEXT NOT NULL, plans_sha256 TEXT NOT NULL
);
CREATE INDEX personal_subject ON personal (subject);
CREATE TABLE begun (id TEXT PRIMARY KEY, at BIGINT NOT NULL, model TEXT NOT NULL);
CREATE TABLE chain (
    place INTEGER PRIMARY KEY CHECK (place = 1), first_seq BIGINT NOT NULL, first_hash TEXT NOT NULL,
    last_seq BIGINT NOT NULL, last_hash TEXT NOT NULL
);
INSERT INTO chain VALUES (1, 0, '{nothing}', 0, '{nothing}')
""".format(nothing="0" * 64)

FEEDBACK = """
CREATE TABLE feedback (
    record_id TEXT NOT NULL, plan BIGINT NOT NULL, outcome TEXT NOT NULL, reason TEXT, at BIGINT NOT NULL, key_id TEXT,
    PRIMARY KEY (record_id, plan, outcome)
)
"""

MIGRATIONS = (RECORDS, FEEDBACK)
NEWEST = len(MIGRATIONS)
