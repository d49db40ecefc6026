import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { LeftOut } from "./left-out.ts";
import { first, nestedIn, objectIn, textIn, type Json } from "./turn.ts";

/** Reads the tools of a request in OpenAI's form; `undefined` for none. Throws `LeftOut` for a tool that is no function. */
export function readTools(request: Json, attributes: Json): readonly Json[] | undefined {
  const found =
    first(request, "tools", "functions") ??
    objectIn(request, "config")["tools"] ??
    objectIn(attributes, "gen_ai", "tool")["definitions"] ??
    objectIn(attributes, "llm", "request")["functions"] ??
    objectIn(attributes, "llm")["tools"] ??
    objectIn(attributes, "ai", "prompt")["tools"];
  const servers = request["mcp_servers"];
  if (Array.isArray(servers) && servers.length > 0) throw new LeftOut("unsupported_tools");
  const list = parsed(found);
  if (found === undefined || list === null) return undefined;
  if (!Array.isArray(list)) throw new LeftOut("unsupported_tools");
  const tools = list.flatMap((one: unknown) => toolsIn(parsed(one)));
  return tools.length === 0 ? undefined : tools;
}

/** Attributes have JSON as text. */
function parsed(value: unknown): unknown {
  return typeof value === "string" ? parseOrUndefined(value) : value;
}

function toolsIn(tool: unknown): readonly Json[] {
  if (!isJsonObject(tool)) throw new LeftOut("unsupported_tools");
  // OpenInference
  const schema = objectIn(tool, "tool")["json_schema"];
  if (schema !== undefined) return toolsIn(parsed(schema));
  const declared = first(tool, "functionDeclarations", "function_declarations");
  if (declared === undefined) return [functionTool(tool)];
  // Gemini
  const others = Object.values(tool).filter((value) => value != null);
  if (!Array.isArray(declared) || others.length > 1) throw new LeftOut("unsupported_tools");
  return declared.map((one: unknown) => {
    const own = isJsonObject(one) ? one : {};
    return functionTool({ ...own, parameters: lowerTypes(own["parameters"]) });
  });
}

const PARAMETERS = [
  "parameters",
  "input_schema",
  "inputSchema",
  "parametersJsonSchema",
  "parameters_json_schema",
];

function functionTool(tool: Json): Json {
  const { type } = tool;
  const inner = nestedIn(tool, "function");
  const name = textIn(inner, "name");
  const isFunction = type == null || type === "function" || (type === "custom" && "input_schema" in tool);
  if (name === undefined || !isFunction) throw new LeftOut("unsupported_tools");
  const { description, strict } = inner;
  const parameters = parsed(first(inner, ...PARAMETERS));
  return {
    type: "function",
    function: {
      name,
      ...(description != null && { description }),
      ...(parameters != null && { parameters }),
      ...(strict != null && { strict }),
    },
  };
}

/** Writes the types of a schema of Gemini, such as `OBJECT`, as JSON Schema has them. */
function lowerTypes(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { type, items, properties, anyOf } = schema;
  return {
    ...schema,
    ...(typeof type === "string" && { type: type.toLowerCase() }),
    ...(isJsonObject(items) && { items: lowerTypes(items) }),
    // one may be named `type`
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, own]) => [name, lowerTypes(own)]),
      ),
    }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(lowerTypes) }),
  };
}
