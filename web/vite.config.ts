import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** Compresses each file once, at build time. */
const compressed: Plugin = {
  name: "compressed",
  writeBundle({ dir = "" }, bundle) {
    for (const [name, file] of Object.entries(bundle)) {
      const bytes = file.type === "chunk" ? file.code : file.source;
      writeFileSync(join(dir, `${name}.br`), brotliCompressSync(bytes));
      writeFileSync(join(dir, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    }
  },
};

export default defineConfig({
  // relative: the service may be served below a path
  base: "./",
  build: {
    outDir: "built",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    // libraries mark what needs a browser for frameworks that render on servers
    rolldownOptions: {
      onLog: (level, log, log2) => log.code !== "MODULE_LEVEL_DIRECTIVE" && log2(level, log),
    },
  },
  plugins: [compressed],
  server: {
    // `npm run dev:page` beside `npm start`: everything but the page's files goes to the service
    proxy: { "^/(me|trace|call|calls|feedback|usage)\\b": "http://127.0.0.1:8080" },
  },
});
