/**
 * Renderer `gpg`: decrypts what is encrypted in a text, or in the texts of data, with the program gpg.
 * Source: Salt 3008.3, `salt/renderers/gpg.py`.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import type { RenderHost, RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import { strictUtf8 } from "#lib/text/strict_utf8.ts";
import { isMap, str, truthy, type Value } from "#lib/values/value.ts";
import { decrypt } from "./_gpg.ts";

/** What is encrypted. */
const MESSAGE = /-----BEGIN PGP MESSAGE-----[^]*?-----END PGP MESSAGE-----/g;

/**
 * Decrypts every PGP message in a text or in the texts of data, which is changed in place.
 * @throws {RenderError} Without the program, or if a message cannot be decrypted and must be.
 */
export async function render(input: RenderInput): Promise<RenderOutput> {
  const { data, origin, host } = input;
  const program = which("gpg");
  if (program === undefined) throw new RenderError("GPG unavailable");
  const keyDirectory = await keyDirectoryOf(host);
  const decrypted = new Map<string, Promise<Uint8Array>>();
  // A message that occurs twice is decrypted once.
  const open = (message: string): Promise<Uint8Array> => {
    const plain = decrypted.get(message) ?? openMessage(message, { program, keyDirectory, host });
    decrypted.set(message, plain);
    return plain;
  };
  const answer = await decryptValue(data, open, newlinesAreWritten(input));
  return typeof answer === "string"
    ? { data: answer, origin: answer === data ? origin : TextOrigin.ofFile(answer) }
    : { data: answer };
}

/** Whether `\n` in the data is two characters, as in data from a command line. */
function newlinesAreWritten({ request }: RenderInput): boolean {
  return truthy(request.kwargs?.get("translate_newlines"));
}

/** `config.get gpg_keydir`, the option, or `gpgkeys` beside the configuration. */
async function keyDirectoryOf({ opts, salt }: RenderHost): Promise<string> {
  const get = await salt.get("config.get");
  const directory = await get?.(["gpg_keydir"], new Map());
  if (directory !== undefined && truthy(directory)) return str(directory);
  return str(opts.get("gpg_keydir") ?? `${str(opts.get("config_dir") ?? "/etc/salt")}/gpgkeys`);
}

type Open = (message: string) => Promise<Uint8Array>;

/** How deep data may be. */
const DEEPEST = 500;

/** A copy of `data` with every message in its texts decrypted. */
async function decryptValue(data: Value, open: Open, newlines: boolean, depth = 0): Promise<Value> {
  if (depth > DEEPEST) throw new RenderError(`The data is nested deeper than ${DEEPEST} levels`);
  if (typeof data === "string") return await openedText(newlines ? data.replaceAll("\\n", "\n") : data, open);
  if (data instanceof Uint8Array) {
    const text = strictUtf8(data);
    return text === undefined ? data : await openedText(text, open);
  }
  // The lists and maps stay the same ones, since the places of their keys and items are kept by them.
  if (Array.isArray(data)) {
    for (const [i, item] of data.entries()) data[i] = await decryptValue(item, open, newlines, depth + 1);
  } else if (isMap(data)) {
    for (const [key, item] of data) data.set(key, await decryptValue(item, open, newlines, depth + 1));
  }
  return data;
}

async function openedText(text: string, open: Open): Promise<Value> {
  const messages = [...text.matchAll(MESSAGE)];
  if (messages.length === 0) return text;
  const parts: Uint8Array[] = [];
  const utf8 = new TextEncoder();
  let at = 0;
  for (const { 0: message, index } of messages) {
    parts.push(utf8.encode(text.slice(at, index)), await open(message));
    at = index + message.length;
  }
  parts.push(utf8.encode(text.slice(at)));
  const whole = withoutLineEnds(new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()));
  return strictUtf8(whole) ?? whole;
}

/** Without the line ends that YAML puts behind a text of several lines. */
function withoutLineEnds(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0x0a) end--;
  return bytes.subarray(0, end);
}

async function openMessage(
  message: string,
  how: { readonly program: string; readonly keyDirectory: string; readonly host: RenderHost },
): Promise<Uint8Array> {
  const { host, ...program } = how;
  const { output, errors } = await decrypt(message.replaceAll("\\n", "\n"), { ...program, signal: host.signal });
  if (output.length > 0) return output;
  const problem = `Could not decrypt cipher, received: ${errors}`;
  if (truthy(host.opts.get("gpg_decrypt_must_succeed") ?? true)) throw new RenderError(problem);
  host.log("warning", problem);
  return new TextEncoder().encode(message);
}
