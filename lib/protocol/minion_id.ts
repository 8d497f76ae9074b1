/**
 * Which ids can be a minion's. Ids come off the wire and become names of files: one that is not valid never does.
 * @module
 */

const MAX_ID_BYTES = 255; // of a file name
const utf8 = new TextEncoder();

/**
 * Whether `id` can be a minion's: one name of a file, without control characters, and not hidden.
 * Salt forbids `/`, `\`, NUL, `.` and `..`; the rest would not be listed, or would write on the operator's terminal.
 */
export function isValidId(id: string): boolean {
  return id !== "" && !id.startsWith(".") && !/[/\\]|\p{Cc}/u.test(id) && utf8.encode(id).length <= MAX_ID_BYTES;
}
