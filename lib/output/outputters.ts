/**
 * The outputters that `--out` names: each formats a value for people or for programs. Every result is safe on a
 * terminal. The machine formats (`json`, `yaml`, `raw`, `pprint`) keep the data exactly and escape control characters
 * in their own way; the others (`nested`, `highstate`, `table`, `txt` and so on) show them as `\x1b`, also in a pipe or
 * a file. Knows nothing of commands. Source: Salt's documentation, "Salt Output Modules".
 * @module
 */

import { rstrip } from "#lib/values/python_text.ts";
import { messageOf, UsageError } from "#lib/errors.ts";
import { dumpJson, type JsonOptions, writeJson } from "#lib/values/json.ts";
import { formatHighstate, type StateDisplay } from "./highstate.ts";
import { formatKeys } from "./key.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { formatNested, formatNoReturn } from "./nested.ts";
import { OUTPUTTER_NAMES, type OutputterName } from "./outputter_names.ts";
import { formatOverview } from "./overview.ts";
import { pformat } from "#lib/values/pformat.ts";
import { formatProfile } from "./profile.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { formatTable, type TableLayout } from "./table.ts";
import { sanitize, sanitizeJson, sanitizeLine } from "#lib/text/terminal.ts";
import { repr, str, type Value } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";

/** Options of {@linkcode formatOutput}. */
export interface OutputOptions {
  /** The outputter's name; an unknown one becomes `nested`, with a warning. */
  readonly out: string;
  /** Whether to print in Salt's colours. */
  readonly color: boolean;
  /**
   * `--out-indent`: columns for each level of `json` (4 if unset), `yaml` (2) and `pprint` (1); negative: `json` and
   * `yaml` on as few lines as they can.
   */
  readonly indent?: number;
  /** The return's retcode: `nested` turns red if it is not 0. */
  readonly retcode?: number;
  /** Whether `nested` shows texts of a failed return in red. */
  readonly redFailures?: boolean;
  /** Indentation of the output of `nested`, in columns. */
  readonly nestedIndent?: number;
  /** How `highstate` shows states. Default: Salt's. */
  readonly states?: StateDisplay;
  /** How `table` and `profile` lay tables out. Default: Salt's. */
  readonly table?: TableLayout;
  /** The width of the terminal in characters; absent: there is none. */
  readonly columns?: number;
  /** Called with one line about an unknown outputter. */
  readonly warn?: (text: string) => void;
}

/**
 * Formats a value; `undefined` if the value does not have the form that this outputter needs: then `nested` is used.
 */
export type Outputter = (data: Value, options: OutputOptions) => string | undefined;

const BY_NAME: Readonly<Record<OutputterName, Outputter>> = {
  nested: formatNested,
  json: formatJson,
  yaml: formatYaml,
  // A string alone is the only value that `raw` does not quote.
  raw: (data) => typeof data === "string" ? sanitize(data) : repr(data),
  pprint: (data, { indent = 1 }) => pformat(data, 80, { indent: indent < 0 ? 1 : indent }),
  txt: formatTxt,
  text: formatTxt,
  newline_values_only: formatValuesOnly,
  table: formatTable,
  highstate: formatHighstate,
  profile: formatProfile,
  key: formatKeys,
  no_return: formatNoReturn,
  // Not used for results: `salt --progress` draws the bar (progress_bar.ts).
  progress: () => undefined,
  quiet: () => "",
};

/** The outputters by the names that `--out` and the returns of minions have for them. */
export const OUTPUTTERS: ReadonlyMap<string, Outputter> = new Map<string, Outputter>([
  ...Object.entries(BY_NAME),
  // That of one runner, not an answer to `--out`.
  ["overview", formatOverview],
  // Old Python minions name it in their returns.
  ["grains", () => undefined],
]);

/** The outputters for programs. */
export const MACHINE_OUTPUTTERS: readonly string[] = ["json", "yaml", "raw", "pprint"];

/**
 * The outputter to use: the user's choice (`--out`, or `output` in the configuration), else that of the return, else
 * `nested`.
 */
export function chooseOutputter(requested: string | undefined, suggested?: string): string {
  return requested || suggested || "nested";
}

/**
 * Formats `data` with the outputter `options.out`, without white space at the end.
 * @returns The text; an empty string means that nothing is printed, not even a newline.
 */
export function formatOutput(data: Value, options: OutputOptions): string {
  const outputter = OUTPUTTERS.get(options.out);
  if (outputter === undefined) {
    const near = didYouMean(options.out, OUTPUTTER_NAMES);
    options.warn?.(`Invalid outputter ${sanitizeLine(options.out)} specified, fall back to nested${near}`);
  }
  return rstrip(outputter?.(data, options) ?? formatNested(data, options));
}

/**
 * As {@linkcode formatOutput}, in pieces where the outputter can: the output of ten thousand states is not in memory as
 * a whole. Writes nothing if nothing is printed.
 */
export function writeOutput(data: Value, options: OutputOptions, put: (piece: string) => void): void {
  if (options.out === "json") return writeJson(data, jsonOptions(options), (piece) => put(sanitizeJson(piece)));
  const text = formatOutput(data, options);
  if (text !== "") put(text);
}

function formatJson(data: Value, options: OutputOptions): string {
  return sanitizeJson(dumpJson(data, jsonOptions(options)));
}

function jsonOptions({ indent = 4 }: OutputOptions): JsonOptions {
  return { indent: indent < 0 ? undefined : indent, ensureAscii: false };
}

function formatYaml(data: Value, { indent }: OutputOptions): string {
  // YAML escapes all but bidirectional overrides, which Salt prints unchanged; here they become visible.
  return sanitize(dumpYaml(data, { indent, flow: indent !== undefined && indent < 0 }));
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

export interface OutputDestination {
  /** `--out-file`: a file that gets the output instead of `write`. */
  readonly file?: string;
  /** `--out-file-append`: append to the file. */
  readonly append?: boolean;
  /** Writes to standard output. */
  readonly write: (text: string) => void;
}

/** An open destination, closed by `using`. */
export interface OutputWriter extends Disposable {
  /**
   * Writes a text and a newline; an empty text writes nothing.
   * @throws {UsageError} If the file cannot be written.
   */
  (text: string): void;
  /**
   * Writes a text without a newline.
   * @throws {UsageError} If the file cannot be written.
   */
  piece(text: string): void;
}

/**
 * Opens the destination: the file, emptied unless `append` is set, or standard output. The file stays open, because the
 * process may lose the right to open it.
 * @throws {UsageError} If the file cannot be written.
 */
export function outputWriter({ file, append = false, write }: OutputDestination): OutputWriter {
  const orDenied = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw new UsageError(`${file}: Access denied: ${messageOf(error)}`);
    }
  };
  const opened = file === undefined ? undefined : orDenied(() => openOutput(file, append));
  const piece = (text: string) => {
    if (opened === undefined) return write(text);
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length;) at += orDenied(() => opened.writeSync(bytes.subarray(at)));
  };
  const put = (text: string) => text === "" ? undefined : piece(`${text}\n`);
  return Object.assign(put, { piece, [Symbol.dispose]: () => opened?.close() });
}

/** An existing file keeps its mode and owner; a new one is readable by the user only. */
function openOutput(file: string, append: boolean): Deno.FsFile {
  if (!append) Deno.openSync(file, { write: true, create: true, truncate: true }).close();
  return Deno.openSync(file, { append: true, create: true });
}
