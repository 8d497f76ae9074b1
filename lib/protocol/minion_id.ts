/**
 * Valid minion ids. Ids come from the network and become file names, so only valid ones may be used.
 * @module
 */

const MAX_ID_BYTES = 255; // of a file name
const utf8 = new TextEncoder();

/**
 * Whether `id` is valid: a single file name without control characters, and not hidden. Salt forbids `/`, `\`, NUL, `.`
 * and `..`; the other rules prevent ids that listings would not show and that would control the operator's terminal.
 */
export function isValidId(id: string): boolean {
  return id !== "" && !id.startsWith(".") && !/[/\\]|\p{Cc}/u.test(id) && utf8.encode(id).length <= MAX_ID_BYTES;
}
