/**
 * Renderer `json`.
 * Source: Salt 3008.3, `salt/renderers/json.py`.
 * @module
 */

import { JsonError, RenderError } from "#lib/errors.ts";
import { excerptOf } from "#lib/jinja/salt/excerpt.ts";
import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { needRenderText, withoutShebang } from "./_text.ts";

/**
 * Reads JSON; a first line with renderers is left out.
 * @throws {RenderError} With the place, if it is none.
 */
export function render(input: RenderInput): RenderOutput {
  const text = needRenderText(input, "json");
  const json = withoutShebang(text);
  if (json.trim() === "") return { data: new Map() };
  try {
    return { data: parseJson(json) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // The line of the renderers is not a part of what was read.
    const line = error.line + (json === text ? 0 : 1);
    const place = input.origin.place(line, error.column);
    throw new RenderError(error.message, { place, excerpt: excerptOf(text, line) }, { cause: error });
  }
}
