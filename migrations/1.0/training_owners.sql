-- Projects that own models, training jobs and whatever else was created through the training routes. The first row of an id wins.
CREATE TABLE IF NOT EXISTS training_owners {{on_cluster}}
(
    -- UUIDs in 32 lowercase digits
    id String,
    project_id LowCardinality(String),
    -- of a model: JSON with its name and base model
    model String DEFAULT '',
    created_at DateTime64(6, 'UTC') DEFAULT now64(6),
    version UInt64 DEFAULT bitNot(toUInt64(toUnixTimestamp64Micro(created_at)))
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY id
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
