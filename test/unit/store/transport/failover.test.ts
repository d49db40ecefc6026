import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sql } from "../../../../src/query/sql.ts";
import { StorageError } from "../../../../src/store/storage-error.ts";
import { Failover } from "../../../../src/store/transport/failover.ts";
import type { SendOptions, Transport } from "../../../../src/store/transport/transport.ts";

type Fate = "well" | "down" | "hangs" | "read-only" | "behind";
const codes = { down: "ECONNREFUSED", "read-only": "242", behind: undefined } as const;

interface Server extends Transport {
  readonly name: string;
  fate: Fate;
  /** Statements that it was given, and how often it was asked to catch up. */
  readonly seen: SendOptions[];
  caughtUp: number;
}

function problem(name: string, fate: Exclude<Fate, "well" | "hangs">): StorageError {
  const kind = fate === "read-only" ? "read_only" : "unavailable";
  return new StorageError(kind, "test", codes[fate], `${name} is ${fate}`);
}

function serverOf(name: string): Server {
  const answer = (options: SendOptions): Promise<string> => {
    server.seen.push(options);
    if (server.fate === "well" || server.fate === "behind") return Promise.resolve(name);
    if (server.fate !== "hangs") return Promise.reject(problem(name, server.fate));
    return new Promise((_, reject) => {
      options.signal!.addEventListener("abort", () => reject(new Error("aborted")));
    });
  };
  const server: Server = {
    name,
    fate: "well",
    seen: [],
    caughtUp: 0,
    read: async (_query, options) => ({
      bytes: Buffer.from(await answer(options)),
      readRows: 0,
      readBytes: 0,
    }),
    command: async (_statement, options) => void (await answer(options)),
    insert: async (_insert, options) => void (await answer(options)),
    close: () => Promise.resolve(),
  };
  return server;
}

const options: SendOptions = { name: "test", profile: "ingest", settings: {}, signal: undefined };
let servers: Server[];
let switches: (string | undefined)[];
let failover: Failover<Server>;

const read = async () => (await failover.read(sql`SELECT 1`, options)).bytes.toString();
const insert = () => failover.insert({ table: "t", columns: [], rows: Buffer.from("") }, options);
const watches = (times: number) => vi.advanceTimersByTimeAsync(500 * times);

beforeEach(() => {
  vi.useFakeTimers();
  servers = ["a", "b", "c"].map(serverOf);
  switches = [];
  failover = new Failover(servers, {
    catchUp: async (server) => {
      server.caughtUp++;
      if (server.fate === "hangs") throw problem(server.name, "down");
      if (server.fate !== "well") throw problem(server.name, server.fate);
    },
    check: async ({ name, fate }) => {
      if (fate === "down" || fate === "hangs") throw problem(name, "down");
      if (fate === "read-only") throw problem(name, fate);
    },
    onSwitch: (server) => switches.push(server?.name),
  });
});
afterEach(async () => {
  await failover.close();
  vi.useRealTimers();
});

describe("Failover", () => {
  it("begins with the first server that has caught up, once for concurrent statements", async () => {
    servers[0]!.fate = "behind";
    expect(await Promise.all([read(), read(), read()])).toEqual(["b", "b", "b"]);
    expect(servers.map(({ caughtUp }) => caughtUp)).toEqual([1, 1, 1]);
    expect(servers[0]!.seen).toEqual([]);
    servers[1]!.fate = "down";
    await Promise.all([read(), insert(), insert()]);
    expect(servers.map(({ caughtUp }) => caughtUp)).toEqual([2, 2, 2]);
  });

  it("repeats an insert on the next server with its token, and gives another insert another one", async () => {
    await insert();
    servers[0]!.fate = "down";
    await insert();
    const tokens = servers.map(({ seen }) =>
      seen.map(({ settings }) => settings["insert_deduplication_token"]),
    );
    expect(tokens[0]).toHaveLength(2);
    expect(tokens[1]).toEqual([tokens[0]![1]]);
    expect(tokens[0]![0]).not.toBe(tokens[0]![1]);
    expect(switches).toEqual(["a", "b"]);
  });

  it("never serves from one that has not caught up: says why none can", async () => {
    for (const server of servers) server.fate = "behind";
    servers[1]!.fate = "down";
    const failed = { kind: "unavailable", detail: "a is behind; b is down; c is behind" };
    await expect(read()).rejects.toMatchObject(failed);
    await expect(insert()).rejects.toMatchObject(failed);
    expect(servers.flatMap(({ seen }) => seen)).toEqual([]);
  });

  it("leaves a server that hangs, with its statements", async () => {
    await read();
    servers[0]!.fate = "hangs";
    const hanging = [read(), insert()];
    await watches(3);
    expect(await Promise.all(hanging)).toEqual(["b", undefined]);
  });

  it("reads from a read-only server unless another one can serve", async () => {
    await read();
    for (const server of servers) server.fate = "read-only";
    servers[0]!.read = async () => ({ bytes: Buffer.from("a"), readRows: 0, readBytes: 0 });
    await expect(insert()).rejects.toMatchObject({ kind: "read_only" });
    await watches(2);
    expect(await read()).toBe("a");
    servers[2]!.fate = "well";
    await insert();
    expect(await read()).toBe("c");
  });

  it("stays with a server whose connection broke if none can catch up, unless it fails its check", async () => {
    await read();
    for (const server of servers) server.fate = "behind";
    const answer = servers[0]!.read.bind(servers[0]);
    const breakOnce = (): void => {
      servers[0]!.read = () => {
        servers[0]!.read = answer;
        return Promise.reject(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
      };
    };
    breakOnce();
    expect(await read()).toBe("a");
    breakOnce();
    servers[0]!.fate = "down";
    await expect(read()).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("returns to an earlier server when it has caught up, after the running writes", async () => {
    servers[0]!.fate = "down";
    expect(await read()).toBe("b");
    servers[0]!.fate = "behind";
    await watches(2);
    expect(await read()).toBe("b");
    const { promise, resolve } = Promise.withResolvers<void>();
    servers[1]!.insert = () => promise;
    const writing = insert();
    await watches(0);
    servers[0]!.fate = "well";
    await watches(1);
    const waiting = read();
    const { caughtUp } = servers[0]!;
    resolve();
    await writing;
    expect([await waiting, servers[0]!.caughtUp]).toEqual(["a", caughtUp + 1]);
  });

  it("repeats no statement that is wrong, has timed out or was aborted", async () => {
    for (const code of ["62", "159", "279", "ETIMEDOUT"]) {
      servers[0]!.read = () => Promise.reject(Object.assign(new Error(code), { code }));
      await expect(read()).rejects.toThrow();
    }
    expect(servers[1]!.seen).toEqual([]);
    servers[0]!.fate = "hangs";
    const controller = new AbortController();
    const aborted = failover.command(sql`SELECT 1`, { ...options, signal: controller.signal });
    await watches(0);
    controller.abort();
    await expect(aborted).rejects.toThrow("aborted");
  });
});
