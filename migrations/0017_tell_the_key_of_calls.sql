-- The id of the API key that a call was sent with; NULL for calls from before this column.
ALTER TABLE calls {{on_cluster}}
    ADD COLUMN IF NOT EXISTS api_key SimpleAggregateFunction(anyLast, LowCardinality(Nullable(String))) AFTER attributes;
