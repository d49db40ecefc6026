-- A price may be that of one service tier ('' for the usual one), and have prices for units beside plain tokens: USD for one
-- of each, by the unit's name.
ALTER TABLE llm_prices {{on_cluster}}
    ADD COLUMN IF NOT EXISTS service_tier LowCardinality(String) AFTER cache_creation_input_token_cost,
    ADD COLUMN IF NOT EXISTS unit_costs Map(LowCardinality(String), Float64) AFTER service_tier;
