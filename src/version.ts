import manifest from "../package.json" with { type: "json" };

/** The version of Sumtree. */
export const VERSION: string = manifest.version;
