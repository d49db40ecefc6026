/**
 * A project that the caller may use. Only `Grant.project` in `src/http/auth` makes one, and every
 * plan and store function requires one: a query without its tenant does not compile.
 */
export type Project = string & { readonly __tenant: unique symbol };
