import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { LeftOut } from "./left-out.ts";
import { first, textIn, type Json } from "./turn.ts";

/** Reads the tools of a request in OpenAI's form; `undefined` for none. Throws `LeftOut` for a tool that is no function. */
export function readTools(request: Json, attributes: Json): readonly Json[] | undefined {
  const config = objectIn(request, "config");
  const found =
    first(request, "tools", "functions") ??
    config["tools"] ??
    objectIn(objectIn(attributes, "gen_ai"), "tool")["definitions"] ??
    objectIn(objectIn(attributes, "llm"), "request")["functions"] ??
    objectIn(attributes, "llm")["tools"] ??
    objectIn(objectIn(attributes, "ai"), "prompt")["tools"];
  const servers = request["mcp_servers"];
  if (Array.isArray(servers) && servers.length > 0) throw new LeftOut("unsupported_tools");
  const list = parsed(found);
  if (found === undefined || list === null) return undefined;
  if (!Array.isArray(list)) throw new LeftOut("unsupported_tools");
  const tools = list.flatMap((one: unknown) => toolsIn(parsed(one)));
  return tools.length === 0 ? undefined : tools;
}

export function objectIn(object: Json, name: string): Json {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

/** Attributes have JSON as text. */
function parsed(value: unknown): unknown {
  return typeof value === "string" ? parseOrUndefined(value) : value;
}

function toolsIn(tool: unknown): readonly Json[] {
  if (!isJsonObject(tool)) throw new LeftOut("unsupported_tools");
  // OpenInference
  const schema = isJsonObject(tool["tool"]) ? parsed(tool["tool"]["json_schema"]) : undefined;
  if (schema !== undefined) return toolsIn(schema);
  const declared = first(tool, "functionDeclarations", "function_declarations");
  if (declared === undefined) return [functionTool(tool)];
  const others = Object.entries(tool).filter(([, value]) => value != null);
  if (!Array.isArray(declared) || others.length > 1) throw new LeftOut("unsupported_tools");
  return declared.map((one: unknown) => functionTool(isJsonObject(one) ? one : {}, isJsonObject(one)));
}

/** `isGemini`: types of its schemas are upper-case. */
function functionTool(tool: Json, isGemini = false): Json {
  const { type } = tool;
  const inner = isJsonObject(tool["function"]) ? tool["function"] : tool;
  const name = textIn(inner, "name");
  const isFunction = type == null || type === "function" || (type === "custom" && "input_schema" in tool);
  if (name === undefined || !isFunction) throw new LeftOut("unsupported_tools");
  const { description, strict } = inner;
  const own = parsed(inner["parameters"]);
  const parameters =
    own == null
      ? first(inner, "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
      : isGemini
        ? lowerTypes(own)
        : own;
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
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      if (name === "type" && typeof value === "string") return [name, value.toLowerCase()];
      return [name, name === "properties" ? lowerMembers(value) : lowerNested(name, value)];
    }),
  );
}

const NESTED: ReadonlySet<string> = new Set(["items", "anyOf", "any_of"]);

function lowerNested(name: string, value: unknown): unknown {
  return NESTED.has(name) ? lowerTypes(value) : value;
}

/** A property may be named `type`. */
function lowerMembers(properties: unknown): unknown {
  if (!isJsonObject(properties)) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, lowerTypes(value)]));
}
