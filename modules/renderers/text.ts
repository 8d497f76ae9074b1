/**
 * Renderer `text`, also called `plain`: the text as it is.
 * @module
 */

import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { needRenderText } from "./_text.ts";

/**
 * The text, unchanged.
 * @throws {RenderError} If the renderer before it made data.
 */
export function render(input: RenderInput): RenderOutput {
  return { data: needRenderText(input, "text"), origin: input.origin };
}
