import { registerHooks } from "node:module";

// Generators of clients print with TypeScript's JavaScript API, which the native compiler does not have.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "typescript" ? "@ts-morph/common/dist/typescript.js" : specifier, context),
});
