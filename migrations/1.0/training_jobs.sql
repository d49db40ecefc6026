-- Training jobs, and uploads that became none. A row changes by its next version: see src/training-jobs/job.ts. Reads use FINAL.
CREATE TABLE IF NOT EXISTS training_jobs {{on_cluster}}
(
    project_id LowCardinality(String),
    -- the upstream's; of an upload one of our own
    id String,
    kind LowCardinality(String),
    status LowCardinality(String),
    error Nullable(String),
    forgotten UInt8,
    model_id Nullable(String),
    base_model Nullable(String),
    -- entity/project/name
    output_model Nullable(String),
    api_key LowCardinality(String),
    svc_user_id Nullable(String),
    -- JSON: the request without its data
    request String CODEC(ZSTD(1)),

    -- the uploaded body
    sha256 String,
    bytes UInt64,
    lines Nullable(UInt64),
    export_id Nullable(String),
    -- the last byte may have reached the upstream
    is_sent UInt8,

    -- JSON
    metrics String CODEC(ZSTD(1)),
    checkpoints String CODEC(ZSTD(1)),
    stated_cost Nullable(Float64),
    -- JSON: what is read of the upstream next
    course String,

    -- microseconds and milliseconds since the epoch
    created_at_us Int64,
    ended_at_us Nullable(Int64),
    checked_at_ms Int64,
    -- the service that read the job last
    checked_by String,
    removed UInt8,
    version UInt64
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
