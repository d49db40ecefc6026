-- What calls themselves used: an entry for each call and LLM, or for a call that used none. The entries of a group of traces
-- under an hour have a head, which says of what they are true; both are written in one insert, so that a head is never there
-- without its entries. Settled again, the later rows replace the earlier ones, entry by entry. Whoever reads a head compares.
-- A migration that changes what stored calls say must empty this table.
CREATE TABLE IF NOT EXISTS usage_rollup {{on_cluster}}
(
    project_id LowCardinality(String),
    -- 0: a head
    is_record UInt8,
    -- of the calls' keys
    hour Int32,
    -- the group: traces whose first and last call lie under these hours; or, where both are `hour`, under this hour alone
    first_hour Int32,
    last_hour Int32,
    -- a part of the group's traces, where they have many calls
    slice UInt16,
    -- 0 in a head; then from 1 on
    record_no UInt32,
    -- one number for the rows that were written together, at random
    batch_id UInt64,

    -- of a head alone
    manifest Tuple(
        -- of the fold that made the entries
        version UInt32,
        slices UInt16,
        records UInt32,
        -- sum of `calls.fingerprint` over the hours of the group, and over this hour
        fingerprint UInt64,
        hour_fingerprint UInt64,
        -- sum of the hashes of the group's traces under this hour; where the group is the hour's own, of the traces that it leaves
        -- out, because they lie under other hours too
        trace_set_hash UInt64,
        -- when the first and the last call started, in microseconds since the epoch
        first_started_at_us Int64,
        last_started_at_us Int64,
        -- who served what: see src/usage-rollup/served-models.ts
        llms Array(String)
    ) CODEC(ZSTD(1)),

    -- of entries alone
    -- when the call started, in microseconds since the epoch
    started_at_us Int64 CODEC(T64, LZ4),
    -- a call counts in one of its entries
    calls UInt8,
    errors UInt8,
    -- in milliseconds; -9007199254740991: not ended, or the call counts in another entry
    latency_ms Int64 CODEC(T64, LZ4),
    -- what decides its price, but for time and size: see src/usage-rollup/price-key.ts; '' for a call that used nothing
    price_key LowCardinality(String),
    requests UInt64 CODEC(T64, LZ4),
    prompt_tokens UInt64 CODEC(T64, LZ4),
    completion_tokens UInt64 CODEC(T64, LZ4),
    total_tokens UInt64 CODEC(T64, LZ4),
    cache_read_input_tokens UInt64 CODEC(T64, LZ4),
    cache_creation_input_tokens UInt64 CODEC(T64, LZ4),
    -- what is charged where the counts do not say it: see src/prices/cost-of-aggregate.ts
    uncached_prompt_tokens UInt64 CODEC(T64, LZ4),
    billed_requests UInt64 CODEC(T64, LZ4),
    -- the units that `price_key` names
    units Array(UInt64),
    -- the input of a request, and how many of some sizes are smaller: see src/usage-rollup/input-tier.ts
    input_tokens Float64,
    input_tier UInt8,

    op_name LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    thread_id String CODEC(ZSTD(1)),
    turn_id String CODEC(ZSTD(1)),
    svc_user_id LowCardinality(String),
    svc_run_id LowCardinality(String),
    api_key LowCardinality(String),
    status LowCardinality(String),
    is_root UInt8,

    -- what a question needs that asks for no fields of calls, and whose buckets and prices begin with quarters of an hour
    PROJECTION by_15_minutes
    (
        SELECT
            project_id, is_record, hour, batch_id, intDiv(started_at_us, 900000000), price_key, input_tier,
            count(), sum(calls), sum(errors), sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens),
            sum(cache_read_input_tokens), sum(cache_creation_input_tokens), sum(uncached_prompt_tokens), sum(billed_requests), sumForEach(units)
        GROUP BY project_id, is_record, hour, batch_id, intDiv(started_at_us, 900000000), price_key, input_tier
    )
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, is_record, hour, first_hour, last_hour, slice, record_no)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1, deduplicate_merge_projection_mode = 'rebuild';
