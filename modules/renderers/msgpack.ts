/**
 * Renderer `msgpack`: for data that programs write.
 * Source: Salt 3008.3, `salt/renderers/msgpack.py`.
 * @module
 */

import { MsgpackError, RenderError } from "#lib/errors.ts";
import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { decode } from "#lib/values/msgpack.ts";
import { needRenderText, withoutShebang } from "./_text.ts";

/**
 * Reads MessagePack of bytes or of a text's UTF-8.
 * @throws {RenderError} If it is none.
 */
export function render(input: RenderInput): RenderOutput {
  if (input.data instanceof Uint8Array) return { data: read(input.data) };
  const text = withoutShebang(needRenderText(input, "msgpack"));
  return { data: text.trim() === "" ? new Map() : read(new TextEncoder().encode(text)) };
}

function read(bytes: Uint8Array) {
  try {
    return decode(bytes, "disk");
  } catch (error) {
    if (error instanceof MsgpackError) throw new RenderError(`No MessagePack: ${error.message}`, {}, { cause: error });
    throw error;
  }
}
