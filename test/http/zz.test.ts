import { it } from "vitest";
import { startApp } from "../helpers/start-app.ts";
import { sql } from "../../src/query/sql.ts";
const cpu = () => {
  const u = process.cpuUsage();
  return (u.user + u.system) / 1000;
};
const at: Record<string, [number, number]> = {};
async function took<T>(name: string, work: () => Promise<T>): Promise<T> {
  const c = cpu(),
    t = performance.now();
  const r = await work();
  const o = at[name] ?? [0, 0];
  at[name] = [o[0] + cpu() - c, o[1] + performance.now() - t];
  return r;
}
it("x", async () => {
  const { engine, ...test } = await startApp();
  for (let n = 0; n < 60; n++) {
    await took("select1", () => engine.rows(sql`SELECT 1 AS a`, { name: "x" }));
    await took("selectcalls", () =>
      engine.rows(sql`SELECT count() AS a FROM calls WHERE project_id = 'a/b'`, { name: "x" }),
    );
    await took("selectfinal", () =>
      engine.rows(sql`SELECT id FROM calls FINAL WHERE project_id = 'a/b'`, { name: "x" }),
    );
    await took("insert", () =>
      engine.insert("retention", [{ project_id: `a/${n}`, days: 1 }], { name: "y" }),
    );
    await took("insertcalls", () =>
      engine.insert("api_key_last_used", [{ id: `a/${n}`, last_used_at_ms: 1 }], { name: "y" }),
    );
    await took("callinsert", () =>
      engine.insert("calls", [{ project_id: `a/${n}`, id: "x", trace_id: "t", hour: 5 }], { name: "y" }),
    );
  }
  for (const [k, [c, t]] of Object.entries(at))
    console.log("CPU", k, (c / 60).toFixed(1), (t / 60).toFixed(1));
  await test.close();
});
