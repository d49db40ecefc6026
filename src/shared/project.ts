/**
 * A project the caller has proved to be allowed in. Only `Grant.project` in `src/http/auth` makes one, and every
 * plan and store function asks for one: a query without its tenant does not compile.
 */
export type Project = string & { readonly __tenant: unique symbol };
