/** The server that is tested and shipped: the version of the embedded engine. */
export const CLICKHOUSE_IMAGE = "clickhouse/clickhouse-server:26.7";
