-- What the calls of an hour themselves used. A row is of the traces that lie under this hour alone, or of those that lie under
-- several hours, the same for all of them. It is true while the fingerprints of its hours and its spanning traces are those that
-- were folded; whoever reads it compares. An hour has several pieces if it has many calls. Written again, the later row
-- replaces the earlier one. A migration that changes what stored calls say must empty this table.
CREATE TABLE IF NOT EXISTS usage_hours {{on_cluster}}
(
    project_id LowCardinality(String),
    -- 0: entries of calls; 1: these by quarters of an hour, both of the traces under one hour alone; 2: of those under several
    grain UInt8,
    hour Int32,
    piece UInt32,
    pieces UInt32,
    -- of the fold that wrote it
    version UInt32,
    -- the pieces that were written together
    settlement String,
    -- sum of `fingerprint` over the hour's rows, and of the hashes of the spanning traces that are left out; in the grain 2, the
    -- digest of the traces that lie under just these hours
    fingerprint UInt64,
    spanning UInt64,
    hours Array(Int32) DEFAULT [hour],
    fingerprints Array(UInt64) DEFAULT [fingerprint],
    settled_at DateTime64(3, 'UTC') DEFAULT now64(3),
    -- microseconds since the epoch
    first_at Int64,
    last_at Int64,
    entries UInt32,
    -- [llm, provider, tier] as JSON, each once
    served Array(String) CODEC(ZSTD(1)),
    -- what the entries come to by quarters of an hour, as JSON: see src/ledger/packed-quarters.ts. A question that needs no more
    -- reads this one column; rows of the grain 1 have nothing else
    quarters String CODEC(ZSTD(1)),

    -- from here on a value for each entry: a call and an LLM that it used, or a call that used none
    at Array(Int64) CODEC(ZSTD(1)),
    -- a call counts in one of its entries
    calls Array(UInt32) CODEC(ZSTD(1)),
    errors Array(UInt32) CODEC(ZSTD(1)),
    -- -1: not ended, or counted in another entry
    latency Array(Int64) CODEC(ZSTD(1)),
    -- 0: used nothing
    usages Array(UInt32) CODEC(ZSTD(1)),
    llm Array(LowCardinality(String)) CODEC(ZSTD(1)),
    provider Array(LowCardinality(String)) CODEC(ZSTD(1)),
    tier Array(LowCardinality(String)) CODEC(ZSTD(1)),
    requests Array(UInt64) CODEC(ZSTD(1)),
    prompt_tokens Array(UInt64) CODEC(ZSTD(1)),
    completion_tokens Array(UInt64) CODEC(ZSTD(1)),
    total_tokens Array(UInt64) CODEC(ZSTD(1)),
    cache_read_input_tokens Array(UInt64) CODEC(ZSTD(1)),
    cache_creation_input_tokens Array(UInt64) CODEC(ZSTD(1)),
    -- what is charged, where there are no units: see src/prices/cost-of-cell.ts
    uncached Array(UInt64) CODEC(ZSTD(1)),
    charged_requests Array(UInt64) CODEC(ZSTD(1)),
    shape Array(UInt8) CODEC(ZSTD(1)),
    -- the smallest and the largest input of a request
    input_min Array(Float64) CODEC(ZSTD(1)),
    input_max Array(Float64) CODEC(ZSTD(1)),
    -- the whole usage as JSON, where it has units; equal ones may share an entry
    detail Array(LowCardinality(String)) CODEC(ZSTD(1)),
    op_name Array(LowCardinality(String)) CODEC(ZSTD(1)),
    trace_id Array(String) CODEC(ZSTD(1)),
    thread_id Array(String) CODEC(ZSTD(1)),
    turn_id Array(String) CODEC(ZSTD(1)),
    svc_user_id Array(String) CODEC(ZSTD(1)),
    svc_run_id Array(String) CODEC(ZSTD(1)),
    api_key Array(LowCardinality(String)) CODEC(ZSTD(1)),
    status Array(LowCardinality(String)) CODEC(ZSTD(1)),
    is_root Array(UInt8) CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY (grain, if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0))
ORDER BY (project_id, grain, hour, piece)
SETTINGS index_granularity = 1, fsync_after_insert = 1, fsync_part_directory = 1;
