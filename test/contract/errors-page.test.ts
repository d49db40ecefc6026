import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCodes, statusOf } from "../../src/http/errors.ts";
import { AppError } from "../../src/shared/errors.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/errors.md"), "utf8");

describe("docs/errors.md", () => {
  it("has one section for every code, with its status", () => {
    const sections = [...page.matchAll(/^## (\w+)\n\n(\d{3})\. /gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(sections).toEqual(errorCodes.map((code) => [code, statusOf(new AppError(code, ""))]));
  });
});
