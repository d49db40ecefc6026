import { parseJsonText } from "../../shared/escaped-keys.ts";
import { endOfString } from "../../shared/outside-strings.ts";

/** Text that names a resource of the provider: of `other` kinds, such as files, nobody knows who made them. */
export interface NamedResource {
  readonly kind: "model" | "response" | "other";
  readonly text: string;
}

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));
/** Members with the id of what a provider keeps, and members with an object that has its id. */
const KEPT = setOf(
  "conversation conversation_id container container_id prompt_id file_id file_ids input_file_id output_file_id training_file " +
    "validation_file vector_store_id vector_store_ids skill_id batch_id assistant_id thread_id " +
    "cachedcontent cached_content filesearchstorenames file_search_store_names",
);
const KEPT_OBJECTS = setOf("conversation container prompt audio voice");
const KINDS: ReadonlyMap<string, NamedResource["kind"]> = new Map([
  ["model", "model"],
  ["models", "model"],
  ["previous_response_id", "response"],
  ["response_id", "response"],
]);
/** Members with the client's own data, or with results that it sends back. */
const DATA = setOf("metadata parameters input_schema schema arguments results");
/** Types of objects whose ids only tell what happened, and of skills that everybody has. */
const TOLD = /(?:_call|_output|citation|file_path|^anthropic)$/;

/** Type of an image that is sent back, or named by its id alone. */
const IMAGE = "image_generation_call";

interface Container {
  /** Lower-case name of the member that has it, directly or in a list. */
  readonly name: string;
  readonly parent: Container | undefined;
  readonly isList: boolean;
  readonly isData: boolean;
  readonly keys: Set<string>;
  readonly texts: (readonly [name: string, text: string])[];
}

const MARK = /["[\]{}]/g;
const COLON_NEXT = /\s*:/y;

/** Reads a valid JSON text without making objects of it; of a member named twice, both. Cost: linear. */
export function namedResourcesIn(json: string): readonly NamedResource[] {
  const found: NamedResource[] = [];
  let inner: Container | undefined;
  let key = "";
  MARK.lastIndex = 0;
  for (let mark = MARK.exec(json); mark !== null; mark = MARK.exec(json)) {
    const [sign] = mark;
    if (sign === '"') {
      const end = endOfString(json, mark.index);
      MARK.lastIndex = COLON_NEXT.lastIndex = end;
      const isKey = inner?.isList !== true && COLON_NEXT.test(json);
      const name = inner?.isList === true ? inner.name : key;
      if (!isKey && !isNaming(name)) continue;
      const text = parseJsonText(json.slice(mark.index, end)) as string;
      if (isKey) inner?.keys.add((key = text.normalize("NFKC").toLowerCase()));
      else inner?.texts.push([name, text]);
    } else if (sign === "{" || sign === "[") {
      const name = inner?.isList === true ? inner.name : key;
      // the arguments of a tool in Anthropic's format
      const isInput =
        (name === "input" && sign === "{" && inner?.name === "content") ||
        /^(?:function_?call args|function_?response response)$/.test(`${inner?.name} ${name}`);
      const isData = inner?.isData === true || DATA.has(name) || isInput;
      inner = { name, parent: inner, isList: sign === "[", isData, keys: new Set(), texts: [] };
    } else {
      if (inner?.isData === false) found.push(...resourcesOf(inner));
      inner = inner?.parent;
    }
  }
  return found;
}

function isNaming(name: string): boolean {
  return /^(?:id|type|file_?uri)$/.test(name) || KEPT.has(name) || KINDS.has(name);
}

/** True for a file in Gemini's `fileData`, unless it is public. */
function isFileUri(name: string, text: string): boolean {
  if (name !== "fileuri" && name !== "file_uri") return false;
  const { protocol, hostname } = URL.parse(text) ?? {};
  return !/^https?:$/.test(protocol ?? "") || /(?:^|\.)googleapis\.com\.?$/.test(hostname ?? "");
}

function resourcesOf(one: Container): readonly NamedResource[] {
  const types = one.texts.flatMap(([name, text]) => (name === "type" ? [text] : []));
  const isTold = types.length > 0 && types.every((type) => TOLD.test(type));
  // an item of a conversation without its content
  const isBare =
    types.length === 0 ? !one.keys.has("role") : types.includes(IMAGE) && !one.keys.has("result");
  const isReference = types.includes("item_reference") || (one.name === "input" && isBare);
  const hasKeptId = !one.isList && (KEPT_OBJECTS.has(one.name) || isReference);
  return one.texts.flatMap(([name, text]) => {
    const isKept = name === "id" ? hasKeptId : (KEPT.has(name) || isFileUri(name, text)) && !isTold;
    const kind = KINDS.get(name) ?? (isKept ? "other" : undefined);
    return kind === undefined ? [] : [{ kind, text }];
  });
}
