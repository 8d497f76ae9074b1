/**
 * Renderer `json5`: JSON with comments, commas at the end, and keys without quotes.
 * Source: Salt 3006.28, `salt/renderers/json5.py`; json5.org.
 * @module
 */

import { messageOf, RenderError } from "#lib/errors.ts";
import { excerptOf } from "#lib/jinja/salt/excerpt.ts";
import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { needRenderText, withoutShebang } from "./_text.ts";
import { readJson5 } from "./_json5.ts";

/**
 * Reads JSON5.
 * @throws {RenderError} With the place, if it is none.
 */
export async function render(input: RenderInput): Promise<RenderOutput> {
  const text = needRenderText(input, "json5");
  const json = withoutShebang(text);
  if (json.trim() === "") return { data: new Map() };
  try {
    return { data: await readJson5(json) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const at = placeOf(error);
    if (at === undefined) throw new RenderError(messageOf(error), {}, { cause: error });
    // The line of the renderers is not a part of what was read.
    const line = at.line + (json === text ? 0 : 1);
    const place = input.origin.place(line, at.column);
    throw new RenderError(`${messageOf(error)}; line ${line}`, { place, excerpt: excerptOf(text, line) }, {
      cause: error,
    });
  }
}

/** Where the library found what is wrong. */
function placeOf(error: object): { readonly line: number; readonly column: number } | undefined {
  const line: unknown = Reflect.get(error, "lineNumber"), column: unknown = Reflect.get(error, "columnNumber");
  return typeof line === "number" && typeof column === "number" ? { line, column } : undefined;
}
