/**
 * What renderers of texts share.
 * @module
 */

import { RenderError } from "../../lib/errors.ts";
import type { RenderInput } from "../../lib/templates/renderer.ts";
import { typeName } from "../../lib/values/value.ts";

/** The text to be rendered. @throws {RenderError} If an earlier renderer of the pipe has made data of it. */
export function needRenderText({ data }: RenderInput, renderer: string): string {
  if (typeof data === "string") return data;
  throw new RenderError(`The renderer ${renderer} needs a text, and the one before it made a ${typeName(data)}`);
}

/** `text` without its first line if that names renderers. */
export function withoutShebang(text: string): string {
  return text.startsWith("#!") ? text.slice(text.indexOf("\n") + 1) : text;
}
