-- API keys; secrets are stored as hashes only.
CREATE TABLE IF NOT EXISTS api_keys {{on_cluster}}
(
    id String,
    name String,
    secret_hash String,
    scopes Array(LowCardinality(String)),
    projects Array(String),
    expires_at_ms Nullable(Int64),
    created_at_ms Int64 DEFAULT toUnixTimestamp64Milli(now64(3)),
    -- chain of creator keys, from the first one below the root key to its own creator; empty: created by the root key
    created_by Array(String),
    -- the revoked row wins in any order of writes
    revoked UInt8
)
ENGINE = {{engine:ReplacingMergeTree(revoked)}}
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
