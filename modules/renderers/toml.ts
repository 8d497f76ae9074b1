/**
 * Renderer `toml`.
 * Source: Salt 3008.3, `salt/renderers/tomlmod.py`.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { excerptOf } from "#lib/jinja/salt/excerpt.ts";
import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { needRenderText } from "./_text.ts";
import { readToml } from "#lib/render/toml_reader.ts";

/**
 * Reads TOML.
 * @throws {RenderError} With the place, if it is none.
 */
export async function render(input: RenderInput): Promise<RenderOutput> {
  const text = needRenderText(input, "toml");
  const read = await readToml(text);
  if ("value" in read) return { data: read.value };
  const { message, line, column } = read.problem;
  throw new RenderError(`${message}; line ${line}`, {
    place: input.origin.place(line, column),
    excerpt: excerptOf(text, line),
  });
}
