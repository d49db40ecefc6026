-- Which completion a call's usage belongs to, by the provider's id of it, so that calls that report one completion count once.
-- NULL: no end has said, or one from before this column; '': the call reports no completion that has an id.
ALTER TABLE calls {{on_cluster}}
    ADD COLUMN IF NOT EXISTS completion_id SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)) AFTER usage,
    -- who reports it: 0 a client, 1 the gateway, 2 the gateway by an estimate
    ADD COLUMN IF NOT EXISTS reported_by SimpleAggregateFunction(anyLast, Nullable(UInt8)) AFTER completion_id;
