-- A row of the ledger can be of traces that lie under several hours: it is true while the fingerprints of all of them are
-- those that were folded, and `spanning` is the digest of the traces that lie under just these hours. Such rows have the grain 2.
ALTER TABLE usage_hours {{on_cluster}}
    ADD COLUMN IF NOT EXISTS hours Array(Int32) DEFAULT [hour] AFTER spanning,
    ADD COLUMN IF NOT EXISTS fingerprints Array(UInt64) DEFAULT [fingerprint] AFTER hours;
