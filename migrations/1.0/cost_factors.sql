-- Factors of a project on a provider's list cost, from a date on: discounts, taxes, another currency. Immutable: a change is
-- a new factor.
CREATE TABLE IF NOT EXISTS cost_factors {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    -- '' for providers without a factor of their own
    provider LowCardinality(String),
    factor Float64,
    effective_date DateTime64(6, 'UTC'),
    note String,
    created_by String,
    created_at DateTime64(3, 'UTC'),
    -- the purged row wins in any order of writes
    purged UInt8
)
ENGINE = {{engine:ReplacingMergeTree(purged)}}
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
