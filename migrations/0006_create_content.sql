-- What the Weave SDKs publish beside calls, by content: a row is written under the digest of what is in it, so that
-- writing it again changes nothing.

-- One row per version of an object. Of versions written again the first one holds: it says when the version appeared.
CREATE TABLE IF NOT EXISTS objects {{on_cluster}}
(
    project_id LowCardinality(String),
    object_id String,
    digest String,
    kind LowCardinality(String),
    -- '' for none
    base_object_class LowCardinality(String),
    val String CODEC(ZSTD(1)),
    created_at DateTime64(6, 'UTC') DEFAULT now64(6),
    earliness UInt64 DEFAULT bitNot(toUInt64(toUnixTimestamp64Micro(created_at)))
)
ENGINE = {{engine:ReplacingMergeTree(earliness)}}
ORDER BY (project_id, object_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- A file in pieces, as base64.
CREATE TABLE IF NOT EXISTS file_chunks {{on_cluster}}
(
    project_id LowCardinality(String),
    digest String,
    chunk UInt32,
    chunk_count UInt32,
    content String CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, digest, chunk)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- A table is a list of rows, which tables share.
CREATE TABLE IF NOT EXISTS data_tables {{on_cluster}}
(
    project_id LowCardinality(String),
    digest String,
    row_digests Array(String) CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS data_table_rows {{on_cluster}}
(
    project_id LowCardinality(String),
    digest String,
    val String CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
