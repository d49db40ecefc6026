-- Alerts of budgets, and their delivery. The row with the highest step of an alert is current; of equal steps the last stored.
CREATE TABLE IF NOT EXISTS budget_alerts {{on_cluster}}
(
    project_id LowCardinality(String),
    -- webhook-id: a hash of budget, value, window, fraction and limit
    id String,
    budget_id String,
    fraction Float64,
    -- JSON
    event String,
    -- pending, delivered or failed
    state LowCardinality(String),
    step UInt32,
    -- service that sends it
    owner String,
    attempts UInt8,
    due_at_ms Int64,
    -- after the end of its window; 2100 for ever
    expires_at DateTime('UTC')
)
ENGINE = {{engine:ReplacingMergeTree(step)}}
ORDER BY (project_id, id)
TTL expires_at
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
