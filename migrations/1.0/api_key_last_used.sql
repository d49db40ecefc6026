-- Last use of each API key.
CREATE TABLE IF NOT EXISTS api_key_last_used {{on_cluster}}
(
    id String,
    last_used_at_ms SimpleAggregateFunction(max, Int64)
)
ENGINE = {{engine:AggregatingMergeTree}}
ORDER BY id;
