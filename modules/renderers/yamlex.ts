/**
 * Renderer `yamlex`: YAML in which a key may come again, and `!aggregate` joins its values.
 * Source: Salt 3008.3, `salt/renderers/yamlex.py`.
 * @module
 */

import { RenderError, YamlError } from "#lib/errors.ts";
import { yamlexText } from "#lib/jinja/filters/yaml_words.ts";
import { excerptOf } from "#lib/jinja/salt/excerpt.ts";
import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { truthy } from "#lib/values/value.ts";
import { loadYamlex } from "#lib/yaml/yamlex.ts";
import { needRenderText, positionsIn } from "./_text.ts";

/**
 * Reads YAML with aggregates.
 * @throws {RenderError} In Salt's words, with the place, if it is none.
 */
export function render({ origin, ...input }: RenderInput): RenderOutput {
  const text = needRenderText({ origin, ...input }, "yamlex");
  try {
    const { value, places } = loadYamlex(text, input.request.path ?? "<string>");
    return { data: truthy(value) ? value : new Map(), positions: positionsIn(places, origin) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    // Salt gives it the file, where yaml gives it a text.
    const words = yamlexText(error, origin.text).replaceAll('"<unicode string>"', '"<file>"');
    const place = origin.place(error.line, error.column);
    throw new RenderError(words, { place, excerpt: excerptOf(origin.text, error.line) }, { cause: error });
  }
}
