import { describe, expect, it } from "vitest";
import { readRedirect } from "../../../../src/gateway/relay/redirect.ts";
import { readBase } from "../../../../src/gateway/relay/upstream-path.ts";

const base = readBase("https://up/api/v1/?api-version=7");
const sent = { method: "POST", target: "/api/v1/chat/completions?api-version=7", status: 308 };

describe("readRedirect", () => {
  it.each([
    ["https://up/api/v1/x?y=1", "/x?y=1"],
    ["https://up/api/v1/x?api-version=7&y=1", "/x?y=1"],
    ["/api/v1/x", "/x"],
    ["completions/", "/chat/completions/"],
    // whatever scheme the upstream believes in
    ["http://up/api/v1/x/", "/x/"],
  ])("%s becomes %s", (location, path) => {
    expect(readRedirect(base, { ...sent, location })).toMatchObject({ path, isEndless: false });
  });

  it.each(["https://files/x", "/login", "https://up:8443/api/v1/x", "http://", "https://up/api/v10/x"])(
    "keeps %s",
    (location) => {
      expect(readRedirect(base, { ...sent, location })).toMatchObject({ path: undefined, isEndless: false });
    },
  );
});
