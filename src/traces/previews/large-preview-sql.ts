import { sql, trusted, type Sql } from "../../query/sql.ts";
import { PREVIEW_CHARACTERS } from "./first-text.ts";

/** Text of a block, by the rules of `contentText`; NULL for reasoning, tools and files. */
const BLOCK_TEXT = sql`if(
  JSONExtractString(block, 'type') IN ('', 'text', 'input_text', 'output_text') AND NOT JSONExtractBool(block, 'thought'),
  coalesce(JSONExtract(block, 'text', 'Nullable(String)'),
    if(JSONExtractString(block, 'type') = 'text', JSONExtract(block, 'content', 'Nullable(String)'), NULL)),
  NULL)`;

const BLOCKS = sql`JSONExtractArrayRaw(message, if(JSONHas(message, 'parts'), 'parts', 'content'))`;

const MESSAGE_TEXT = sql`if(JSONType(message, 'content') = 'String', JSONExtractString(message, 'content'),
  arrayStringConcat(arrayMap(block -> ${BLOCK_TEXT}, ${BLOCKS}), '\n'))`;

/** Expression of the last text of some messages, cut to a preview; '' if there is none. */
function lastTextOf(messages: Sql, condition: Sql): Sql {
  // a list may have millions of numbers instead
  const objects = sql`arrayFilter(message -> startsWith(message, '{') AND ${condition}, ${messages})`;
  return sql`leftUTF8(arrayLast(text -> text != '', arrayMap(message -> ${MESSAGE_TEXT}, ${objects})),
    ${trusted(String(PREVIEW_CHARACTERS))})`;
}

/** Expression of `inputPreview` for the lists of chat APIs; '' for other formats and without a user's text. */
export function largeInputPreview(inputs: Sql): Sql {
  const messages = sql`arrayConcat(JSONExtractArrayRaw(${inputs}, 'messages'), JSONExtractArrayRaw(${inputs}, 'input'),
    JSONExtractArrayRaw(${inputs}, 'contents'))`;
  return lastTextOf(messages, sql`JSONExtractString(message, 'role') = 'user'`);
}

/** Expression of `outputPreview` for a text and the responses of chat APIs; '' for other formats and without a text. */
export function largeOutputPreview(output: Sql): Sql {
  const messages = sql`arrayConcat(JSONExtractArrayRaw(${output}), JSONExtractArrayRaw(${output}, 'output'),
    [JSONExtractRaw(${output}, 'candidates', 1, 'content'), JSONExtractRaw(${output}, 'choices', 1, 'message')],
    if(JSONHas(${output}, 'content'), [${output}], []))`;
  return sql`if(JSONType(${output}) = 'String', leftUTF8(JSONExtractString(${output}), ${trusted(String(PREVIEW_CHARACTERS))}),
    ${lastTextOf(messages, sql`1`)})`;
}
