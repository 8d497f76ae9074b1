/**
 * Renderer `jinja`.
 * Source: Salt 3008.3, `salt/renderers/jinja.py`.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { renderJinja } from "#lib/jinja/salt/render_jinja.ts";
import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { needRenderText } from "./_text.ts";

/**
 * Renders a template to text.
 * @throws {RenderError} In Salt's words, with the place.
 */
export async function render(input: RenderInput): Promise<RenderOutput> {
  const { argline, origin } = input;
  // What `-s` says in Salt is so here in any case: the data is the text.
  if (argline !== "" && argline !== "-s") throw new RenderError(`Unknown renderer option: ${argline}`);
  const text = await renderJinja(needRenderText(input, "jinja"), origin, input);
  return { data: text.text, origin: text };
}
