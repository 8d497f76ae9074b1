/**
 * The messages between the reactor and the process that renders its files: an event with the files that react to it,
 * and what they say.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseReaction, type Reaction, reactionValue } from "./reaction.ts";
import type { ReactorMistake } from "./reactor_map.ts";

/** An event whose files are to be rendered. */
export interface RenderEvent {
  readonly tag: string;
  readonly data: ValueMap;
  /** As the map names them. */
  readonly files: readonly string[];
}

/** What the files of an event say. */
export interface RenderedEvent {
  readonly reactions: readonly Reaction[];
  readonly mistakes: readonly ReactorMistake[];
  /** What each file rendered to, in their order, if that was asked for. */
  readonly rendered?: readonly { readonly path: string; readonly data: Value }[];
}

/** The bytes of an event. */
export function packRenderEvent({ tag, data, files }: RenderEvent): Uint8Array {
  return encode(map({ tag, data, files: [...files] }), "disk");
}

/**
 * The event in bytes of {@linkcode packRenderEvent}.
 * @throws {WireError} If it is none.
 */
export function unpackRenderEvent(bytes: Uint8Array): RenderEvent {
  const value = decode(bytes, "disk");
  const data = isMap(value) ? value.get("data") : undefined, files = isMap(value) ? value.get("files") : undefined;
  if (!isMap(value) || !isMap(data) || !Array.isArray(files)) throw new WireError("invalid event to render");
  return { tag: str(value.get("tag") ?? ""), data, files: files.map(str) };
}

/** The bytes of what files say. */
export function packRenderedEvent({ reactions, mistakes }: RenderedEvent): Uint8Array {
  const value = map({
    reactions: reactions.map((reaction): Value => reactionValue(reaction)),
    mistakes: mistakes.map((mistake): Value => mistakeValue(mistake)),
  });
  return encode(value, "disk");
}

/**
 * What files say, in bytes of {@linkcode packRenderedEvent}.
 * @throws {WireError} If it is something else.
 */
export function unpackRenderedEvent(bytes: Uint8Array): RenderedEvent {
  const value = decode(bytes, "disk");
  const reactions = isMap(value) ? value.get("reactions") : undefined;
  const mistakes = isMap(value) ? value.get("mistakes") : undefined;
  if (!Array.isArray(reactions) || !Array.isArray(mistakes)) throw new WireError("invalid reactions");
  return { reactions: reactions.map(parseReaction), mistakes: mistakes.map(parseMistake) };
}

/** A mistake as a value. */
function mistakeValue({ file, line, text }: ReactorMistake): ValueMap {
  return map({ file, text, line: line ?? null });
}

function parseMistake(value: Value): ReactorMistake {
  if (!isMap(value)) throw new WireError("invalid mistake of a reactor file");
  const line = toNumber(value.get("line"));
  return {
    file: str(value.get("file") ?? ""),
    text: str(value.get("text") ?? ""),
    ...line !== undefined && { line },
  };
}

/** A mistake as one line, with its place: `/srv/reactor/a.sls:3: …`. */
export function mistakeText({ file, line, text }: ReactorMistake): string {
  if (file === "") return text;
  return `${file}${line === undefined ? "" : `:${line}`}: ${text}`;
}
