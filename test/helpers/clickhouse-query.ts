/** Runs one statement on a server past the service. Errors: the server's own text. */
export async function queryServer(server: string, query: string, database = ""): Promise<string> {
  const url = new URL(server);
  const response = await fetch(`${url.origin}/?database=${database}`, {
    method: "POST",
    headers: {
      "x-clickhouse-user": decodeURIComponent(url.username) || "default",
      "x-clickhouse-key": decodeURIComponent(url.password),
    },
    body: query,
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** A store's database on every server of a cluster, and the one of all its shards if there are several. */
export async function dropDatabases(server: string, database: string, cluster: string): Promise<void> {
  const names = await queryServer(
    server,
    `SELECT name FROM system.databases WHERE startsWith(name, '${database}')`,
  );
  for (const name of names.split("\n").filter((line) => line !== ""))
    await queryServer(server, `DROP DATABASE IF EXISTS ${name} ON CLUSTER '${cluster}' SYNC`);
}
