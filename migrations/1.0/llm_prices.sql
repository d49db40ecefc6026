-- Prices of a project for an LLM, from a date on. Immutable: a change is a new price.
CREATE TABLE IF NOT EXISTS llm_prices {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    llm_id String,
    provider_id LowCardinality(String),
    effective_date DateTime64(6, 'UTC'),
    -- USD per token
    prompt_token_cost Float64,
    completion_token_cost Float64,
    -- NULL: the price of prompt tokens applies
    cache_read_input_token_cost Nullable(Float64),
    cache_creation_input_token_cost Nullable(Float64),
    -- '' for the standard tier
    service_tier LowCardinality(String),
    -- USD per unit besides plain tokens, by unit
    unit_costs Map(LowCardinality(String), Float64),
    created_by String,
    created_at DateTime64(3, 'UTC'),
    -- the purged row wins in any order of writes
    purged UInt8
)
ENGINE = {{engine:ReplacingMergeTree(purged)}}
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
