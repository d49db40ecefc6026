-- Usage records: one per call and LLM, or per call without usage. The records of a span of traces under an hour have a
-- manifest with the state they are valid for, written in the same insert; readers compare it. Materialized again, later rows
-- replace earlier ones. A migration that changes the meaning of stored calls must empty this table.
CREATE TABLE IF NOT EXISTS usage_rollup {{on_cluster}}
(
    project_id LowCardinality(String),
    -- 0: manifest; 1: record; 2: trace sum; 3: record and trace sum, see src/usage-rollup/record-rows.ts
    kind UInt8,
    -- hour bucket of the calls
    hour Int32,
    -- span: traces whose first and last call are stored under these hours; if both equal `hour`, under this hour only
    first_hour Int32,
    last_hour Int32,
    -- slice of the span's traces, if they have many calls
    slice UInt16,
    -- 0 in a manifest; other rows count from 1
    record_no UInt32,
    -- random number shared by the rows of one insert
    batch_id UInt64,

    -- only in manifests
    manifest Tuple(
        -- record format
        version UInt32,
        slices UInt16,
        records UInt32,
        -- sum of `calls.fingerprint` over the hours of the span, and over this hour
        fingerprint UInt64,
        hour_fingerprint UInt64,
        -- sum of the hashes of the span's traces under this hour; for a single hour, of the multi-hour traces it excludes
        trace_set_hash UInt64,
        -- start of the first and last call, in microseconds since the epoch
        first_started_at_us Int64,
        last_started_at_us Int64,
        -- served models: see src/usage-rollup/served-models.ts
        llms Array(String)
    ) CODEC(ZSTD(1)),

    -- not in manifests
    -- start of the call, in microseconds since the epoch
    started_at_us Int64 CODEC(T64, LZ4),
    -- 1; in a trace sum, their number
    records UInt32 CODEC(T64, LZ4),
    -- 1 in one record of each call
    calls UInt32 CODEC(T64, LZ4),
    errors UInt32 CODEC(T64, LZ4),
    unfinished UInt32 CODEC(T64, LZ4),
    -- milliseconds; -9007199254740991: not ended, or counted in another record; in a trace sum of the root
    latency_ms Int64 CODEC(T64, LZ4),
    -- determinants of the price besides time and input size: see src/usage-rollup/price-key.ts; '' without usage
    price_key LowCardinality(String),
    requests UInt64 CODEC(T64, LZ4),
    prompt_tokens UInt64 CODEC(T64, LZ4),
    completion_tokens UInt64 CODEC(T64, LZ4),
    total_tokens UInt64 CODEC(T64, LZ4),
    cache_read_input_tokens UInt64 CODEC(T64, LZ4),
    cache_creation_input_tokens UInt64 CODEC(T64, LZ4),
    -- billed quantities that differ from the counts: see src/prices/cost-of-aggregate.ts
    uncached_prompt_tokens UInt64 CODEC(T64, LZ4),
    billed_requests UInt64 CODEC(T64, LZ4),
    -- cost that responses state, in 10^-10 USD, and how many usages state one
    stated_ticks UInt64 CODEC(T64, LZ4),
    stated_usages UInt32 CODEC(T64, LZ4),
    -- quantities of the units in `price_key`
    units Array(UInt64),
    -- input tokens of a request, and the number of thresholds below: see src/usage-rollup/input-tier.ts
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
    -- 1 for the root of its trace; without a call that has no parent, for the earliest call
    is_first UInt8,
    -- 1 for a failed call, and for calls below one
    is_wasted UInt8,

    -- for queries without call fields whose buckets and prices change at multiples of 15 minutes
    PROJECTION by_15_minutes
    (
        SELECT
            project_id, kind, hour, batch_id, intDiv(started_at_us, 900000000), price_key, input_tier,
            count(), sum(calls), sum(errors), sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens),
            sum(cache_read_input_tokens), sum(cache_creation_input_tokens), sum(uncached_prompt_tokens), sum(billed_requests),
            sum(stated_ticks), sum(stated_usages), sumForEach(units)
        GROUP BY project_id, kind, hour, batch_id, intDiv(started_at_us, 900000000), price_key, input_tier
    )
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, kind, hour, first_hour, last_hour, slice, record_no)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1, deduplicate_merge_projection_mode = 'rebuild';
