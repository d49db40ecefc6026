-- What a row's entries come to by quarters of an hour, as JSON: see src/ledger/packed-quarters.ts. A question that needs no
-- more reads this one column. Rows of the grain 1 have nothing else.
ALTER TABLE usage_hours {{on_cluster}}
    ADD COLUMN IF NOT EXISTS quarters String CODEC(ZSTD(1)) AFTER served;
