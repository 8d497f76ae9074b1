/**
 * One renderer for a value: `decrypt_pillar` and `pillar_enc` render maps by `gpg`.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { typeNameOf } from "#lib/python/kinds.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * The renderer's result for `data`, whose maps and lists are changed in place, as in Salt.
 * @param options.translateNewlines Whether `\n` written as two characters is a line end, as in data from a command
 * line.
 * @throws {RenderError} If there is no such renderer, or it cannot render.
 */
export async function renderValue(
  renderer: string,
  data: Value,
  host: RenderHost,
  { translateNewlines = false }: { readonly translateNewlines?: boolean } = {},
): Promise<Value> {
  const { table } = host.builtInRenderers;
  if (!Object.hasOwn(table, renderer)) throw new RenderError(`The renderer "${renderer}" is not available`);
  const { render } = await table[renderer]();
  // Only gpg accepts maps and lists; the others read a text, and other types give Python's error.
  if (renderer !== "gpg" && typeof data !== "string") {
    throw new RenderError(`'${typeNameOf(data)}' object has no attribute 'read'`);
  }
  const text = typeof data === "string" ? data : "";
  const kwargs = new Map<Value, Value>([["translate_newlines", translateNewlines]]);
  const result = await render({ data, origin: TextOrigin.ofFile(text), argline: "", request: { text, kwargs }, host });
  return result.data;
}
