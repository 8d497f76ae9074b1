/**
 * What renderers of texts share.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import type { Positions } from "#lib/values/positions.ts";
import type { RenderInput } from "#lib/plugins/renderer.ts";
import type { TextOrigin } from "#lib/plugins/text_origin.ts";
import { typeName, type Value, type ValueMap } from "#lib/values/value.ts";
import type { TextPlace, YamlPlaces } from "#lib/yaml/load.ts";

/**
 * The text to be rendered.
 * @throws {RenderError} If an earlier renderer of the pipe has made data of it.
 */
export function needRenderText({ data }: RenderInput, renderer: string): string {
  if (typeof data === "string") return data;
  throw new RenderError(`The renderer ${renderer} needs a text, and the one before it made a ${typeName(data)}`);
}

/** `text` without its first line if that names renderers. */
export function withoutShebang(text: string): string {
  return text.startsWith("#!") ? text.slice(text.indexOf("\n") + 1) : text;
}

/** The places of what was read, in the file that was written. */
export function positionsIn(places: YamlPlaces, origin: TextOrigin): Positions {
  const place = (at: TextPlace | undefined) => at && origin.place(at.line, at.column);
  const of = (container: ValueMap | readonly Value[], key: Value) => place(places.of(container, key));
  return { key: of, item: of, holder: (made) => place(places.holder(made)) };
}
