-- What a project pays at a provider for a dollar of list cost, from a date on: discounts, taxes, another currency. A factor
-- is set once and never changed; to change it, set another.
CREATE TABLE IF NOT EXISTS cost_factors {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    -- '' for every provider that has no factor of its own
    provider LowCardinality(String),
    factor Float64,
    effective_date DateTime64(6, 'UTC'),
    note String,
    created_by String,
    created_at DateTime64(3, 'UTC'),
    -- a purged factor never comes back: the purged row wins whatever the order
    purged UInt8
)
ENGINE = {{engine:ReplacingMergeTree(purged)}}
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
