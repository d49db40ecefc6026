-- src/clickhouse/carry-calls-over.ts
carry_calls_over;
