-- One row per version of an object. The first write of a version is current, so created_at is its first appearance.
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
    version UInt64 DEFAULT bitNot(toUInt64(toUnixTimestamp64Micro(created_at)))
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY (project_id, object_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
