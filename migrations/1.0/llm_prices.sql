-- What a project pays for an LLM, from a date on. A price is set once and never changed; to change it, set another.
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
    -- NULL: not set, so that the price of prompt tokens holds
    cache_read_input_token_cost Nullable(Float64),
    cache_creation_input_token_cost Nullable(Float64),
    -- '' for the usual one
    service_tier LowCardinality(String),
    -- USD for one unit beside plain tokens, by the unit's name
    unit_costs Map(LowCardinality(String), Float64),
    created_by String,
    created_at DateTime64(3, 'UTC'),
    -- a purged price never comes back: the purged row wins whatever the order
    purged UInt8
)
ENGINE = {{engine:ReplacingMergeTree(purged)}}
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
