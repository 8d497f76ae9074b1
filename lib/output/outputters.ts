/**
 * Outputters: what `--out` names, each a way to write a value for people or for programs.
 *
 * Every one gives text that is safe on a terminal. The machine formats (`json`, `yaml`, `raw`, `pprint`) keep the data
 * exactly, because their own escapes can say what a terminal would obey; the others (`nested`, `txt`, `no_return`,
 * `newline_values_only`, `key`) show control characters as `\x1b`, also into a pipe or a file, so that a saved answer
 * is as harmless as a shown one. Knows nothing of commands. Source: Salt's documentation, "Salt Output Modules".
 * @module
 */

import { rstrip } from "../values/python_text.ts";
import { UsageError } from "../errors.ts";
import { dumpJson } from "../values/json.ts";
import { formatKeys } from "./key.ts";
import { formatNested, formatNoReturn } from "./nested.ts";
import { pformat } from "../values/pformat.ts";
import { splitLines } from "../text/split_lines.ts";
import { sanitize, sanitizeJson, sanitizeLine } from "../text/terminal.ts";
import { repr, str, type Value } from "../values/value.ts";
import { dumpYaml } from "../values/yaml_dump.ts";

/** How a value is printed. */
export interface OutputOptions {
  /** The outputter's name; one that does not exist is `nested`, with a warning. */
  readonly out: string;
  /** Whether to print in Salt's colours. */
  readonly color: boolean;
  /** `--out-indent`: columns for each level of `json` (4 if unset; negative: all on one line) and `pprint`. */
  readonly indent?: number;
  /** The return's retcode: `nested` turns red if it is not 0. */
  readonly retcode?: number;
  /** Columns to the left of what `nested` prints. */
  readonly nestedIndent?: number;
  /** Told, in one line, of an outputter that does not exist. */
  readonly warn?: (text: string) => void;
}

/** An outputter; `undefined` for data that is not of the shape which it prints, which `nested` prints then. */
export type Outputter = (data: Value, options: OutputOptions) => string | undefined;

/** The outputters by the names that `--out` takes. */
export const OUTPUTTERS: ReadonlyMap<string, Outputter> = new Map<string, Outputter>([
  ["nested", formatNested],
  ["json", formatJson],
  // YAML escapes them all but for the bidirectional overrides, which Salt prints raw; here they become visible.
  ["yaml", (data) => sanitize(dumpYaml(data))],
  // A bare string is the one thing that `raw` does not quote.
  ["raw", (data) => typeof data === "string" ? sanitize(data) : repr(data)],
  ["pprint", (data, { indent = 1 }) => pformat(data, 80, { indent: indent < 0 ? 1 : indent })],
  ["txt", formatTxt],
  ["text", formatTxt],
  ["quiet", () => ""],
  ["no_return", formatNoReturn],
  ["newline_values_only", formatValuesOnly],
  ["key", formatKeys],
  // Named by the answers of Python minions: without states there is nothing that these would show in another way.
  ["highstate", () => undefined],
  ["grains", () => undefined],
]);

/** Those that programs read. */
export const MACHINE_OUTPUTTERS: readonly string[] = ["json", "yaml", "raw", "pprint"];

/**
 * The outputter to use: what the user asked for (`--out`, or `output` in the configuration), else what the return
 * suggests, else `nested`.
 */
export function chooseOutputter(asked: string | undefined, suggested?: string): string {
  return asked || suggested || "nested";
}

/**
 * `data` as the outputter `options.out` writes it, without white space at its end.
 * @returns The text; the empty string means that nothing is to be printed, not even a newline.
 */
export function formatOutput(data: Value, options: OutputOptions): string {
  const outputter = OUTPUTTERS.get(options.out);
  if (outputter === undefined) {
    options.warn?.(`Invalid outputter ${sanitizeLine(options.out)} specified, fall back to nested`);
  }
  return rstrip(outputter?.(data, options) ?? formatNested(data, options));
}

function formatJson(data: Value, options: OutputOptions): string {
  const indent = options.indent ?? 4;
  return sanitizeJson(dumpJson(data, { indent: indent < 0 ? undefined : indent, ensureAscii: false }));
}

function formatTxt(data: Value): string {
  if (typeof data === "string") return sanitize(data.replaceAll("\r\n", "\n"));
  if (!(data instanceof Map)) return pformat(data);
  const lines: string[] = [];
  for (const [key, value] of data) {
    for (const line of textLines(value)) lines.push(`${sanitizeLine(str(key))}: ${sanitize(line)}`);
  }
  return lines.join("\n");
}

function textLines(value: Value): string[] {
  if (typeof value === "string") return splitLines(value);
  if (!(value instanceof Uint8Array)) return [repr(value)];
  const lines = Array.from(value, (byte) => String.fromCharCode(byte)).join("").split(/\r\n|[\r\n]/);
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => repr(Uint8Array.from(line, (char) => char.charCodeAt(0))));
}

function formatValuesOnly(data: Value): string | undefined {
  if (!(data instanceof Map)) return undefined;
  return [...data.values()].flat(1).map((value) => sanitize(str(value))).join("\n");
}

/** Where output goes. */
export interface OutputDestination {
  /** `--out-file`: the file that gets the output in place of `write`. */
  readonly file?: string;
  /** `--out-file-append`: keep what the file holds. */
  readonly append?: boolean;
  /** Writes to standard output. */
  readonly write: (text: string) => void;
}

/** An open destination. `using` closes it. */
export interface OutputWriter extends Disposable {
  /** Writes one text and a newline; the empty text writes nothing. @throws {UsageError} If the file cannot be written. */
  (text: string): void;
}

/**
 * Opens the destination: the file, emptied unless `append` is set, or standard output. The file stays open: the process may
 * lose the right to open it.
 * @throws {UsageError} If the file cannot be written.
 */
export function outputWriter({ file, append = false, write }: OutputDestination): OutputWriter {
  const denied = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw new UsageError(`${file}: Access denied: ${error instanceof Error ? error.message : error}`);
    }
  };
  const opened = file === undefined ? undefined : denied(() => openOutput(file, append));
  const put = (text: string) => {
    if (text === "") return;
    if (opened === undefined) return write(text + "\n");
    const bytes = new TextEncoder().encode(text + "\n");
    for (let at = 0; at < bytes.length;) at += denied(() => opened.writeSync(bytes.subarray(at)));
  };
  return Object.assign(put, { [Symbol.dispose]: () => opened?.close() });
}

/** The file keeps its mode and owner; made anew, it is the user's own. */
function openOutput(file: string, append: boolean): Deno.FsFile {
  if (!append) Deno.openSync(file, { write: true, create: true, truncate: true }).close();
  return Deno.openSync(file, { append: true, create: true });
}
