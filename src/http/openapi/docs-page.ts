import type { FastifyInstance } from "fastify";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compressed, staticResponse, staticRoute } from "../static-response.ts";

/** Directory of Swagger UI's files. */
const FILES = join(dirname(fileURLToPath(import.meta.resolve("@fastify/swagger-ui"))), "static");

const files: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "index.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

const initializer = `const url = new URL("../../openapi.json", document.currentScript.src).href;
SwaggerUIBundle({ url, dom_id: "#swagger-ui", deepLinking: true, docExpansion: "none", validatorUrl: null });
`;

// Swagger UI sets styles inline; everything else is a file
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds Swagger UI at `/docs`. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  app.addHook("onSend", async (_request, reply) => {
    void reply.headers({ "content-security-policy": policy, "x-content-type-options": "nosniff" });
  });
  const options = { ...staticRoute, schema: { hide: true } };
  const cacheControl = "no-cache";
  const text = (type: string, content: string) =>
    staticResponse({ type, cacheControl, bytesIn: compressed(() => Buffer.from(content)) });
  // links are relative, because the service may be served below a path
  const [below, beside] = ["static", "docs/static"].map((place) =>
    text("text/html; charset=utf-8", html(place)),
  );
  app.get("/docs", options, (request, reply) =>
    (/^[^?]*\/(\?|$)/.test(request.url) ? below! : beside!)(request, reply),
  );
  app.get(
    "/docs/static/swagger-initializer.js",
    options,
    text("text/javascript; charset=utf-8", initializer),
  );
  for (const [name, type] of Object.entries(files)) {
    const bytesIn = compressed(() => readFile(join(FILES, name)));
    app.get(`/docs/static/${name}`, options, staticResponse({ type, cacheControl, bytesIn }));
  }
}

function html(place: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Sumtree: the interface</title>
    <link rel="stylesheet" href="${place}/swagger-ui.css" />
    <link rel="stylesheet" href="${place}/index.css" />
    <link rel="icon" type="image/png" href="${place}/favicon-32x32.png" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${place}/swagger-ui-bundle.js"></script>
    <script src="${place}/swagger-initializer.js"></script>
  </body>
</html>
`;
}
