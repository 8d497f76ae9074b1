/**
 * Prints results according to `--out` and related options.
 * @module
 */

import type { Query } from "./query.ts";
import { type DisplayOpts, stateDisplay, tableLayout } from "./display_opts.ts";
import type { StateDisplay } from "./highstate.ts";
import { chooseOutputter, MACHINE_OUTPUTTERS, outputWriter, writeOutput } from "./outputters.ts";
import type { TableLayout } from "./table.ts";
import { sanitize, useColours } from "#lib/text/terminal.ts";
import { CommandError } from "#lib/errors.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { withErrorDetails } from "#lib/protocol/error_details.ts";

/** The options about output, from the command line and the configuration. */
export interface OutputSettings {
  /** `--out`, or `output` of the configuration. */
  readonly out: string | null;
  /** `--out-indent` */
  readonly indent: number | null;
  /** `--out-file` */
  readonly file: string | null;
  /** `--out-file-append` */
  readonly append: boolean;
  readonly noColor: boolean;
  readonly forceColor: boolean;
  /** The option `color` of the configuration. */
  readonly color: boolean;
  /** How `highstate` shows states. */
  readonly states: StateDisplay;
  /** How `table` and `profile` lay tables out. */
  readonly table: TableLayout;
}

/** The options of a configuration about output. */
export interface OutputOpts extends DisplayOpts {
  /** `--out`, or `output` of the configuration. */
  readonly output: string | null;
  /** Whether the terminal may be coloured. */
  readonly color: boolean;
}

/** The destination of results. */
export interface OutputPlace {
  /** Writes to standard output. */
  write(text: string): void;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** The width of the terminal in characters. */
  readonly columns?: number;
  /** The environment variable `NO_COLOR`. */
  readonly noColor?: string;
  /** Called for an unknown outputter. */
  warn(text: string): void;
}

/**
 * An operator's own outputter.
 * @returns The text.
 * @throws {CommandError} If it fails.
 */
export type OwnOutputter = (data: Value, color: boolean) => string;

/** The output options of a command, as they were typed. */
export interface PrintOptions {
  /** A JMESPath expression. */
  readonly query?: string | null;
  /** `--out-indent` */
  readonly output_indent: number | null;
  /** `--out-file` */
  readonly output_file: string | null;
  /** `--out-file-append` */
  readonly output_file_append: boolean;
  readonly no_color: boolean;
  readonly force_color: boolean;
}

/**
 * The output options of a command, combined with those of its configuration.
 * @param arg The arguments of the function that is called, as on the wire.
 */
export function outputSettings(options: PrintOptions, opts: OutputOpts, arg: readonly Value[] = []): OutputSettings {
  return {
    out: opts.output,
    indent: options.output_indent,
    file: options.output_file,
    append: options.output_file_append,
    noColor: options.no_color,
    forceColor: options.force_color,
    color: opts.color,
    states: stateDisplay(opts, arg),
    table: tableLayout(opts),
  };
}

/** A command's standard output; `warn` gets the warnings about output options. */
export function outputPlace(io: Omit<OutputPlace, "warn">, warn: (text: string) => void): OutputPlace {
  return { write: (text) => io.write(text), isTerminal: io.isTerminal, columns: io.columns, noColor: io.noColor, warn };
}

/** Hints of a result about its output. */
export interface PrintHints {
  /** The outputter to use if the user asked for none. */
  readonly out?: string;
  /** Anything but 0 is printed as a failure. */
  readonly retcode?: number;
  /**
   * Printed below the errors that the value lists for a minion, a text for each, by the names of the value, unless a
   * program reads the output.
   */
  readonly errorDetails?: ReadonlyMap<Value, readonly string[]>;
}

/** Prints one value. */
export type PrintResult = (value: Value, hints?: PrintHints) => void;

/** Prints values until it is closed, by `using`. */
export interface ResultPrinter extends Disposable {
  /** Prints one value. */
  (value: Value, hints?: PrintHints): void;
}

/** Whether a command's output is coloured. */
export function isColoured(settings: OutputSettings, place: Pick<OutputPlace, "isTerminal" | "noColor">): boolean {
  return useColours({
    isTerminal: place.isTerminal,
    forceColor: settings.forceColor,
    noColor: settings.noColor,
    noColorVariable: place.noColor,
    configured: settings.color,
  });
}

/** What results go through before they are printed. */
export interface PrintedBy {
  /** Selects the printed part of each result. */
  readonly query?: Query;
  /** The outputter, in place of that of the settings. */
  readonly own?: OwnOutputter;
}

/**
 * The printer for one run of a command. Its output file is opened now, with the rights that the process has now.
 * @throws {UsageError} If the output file cannot be written.
 */
export function resultPrinter(
  settings: OutputSettings,
  place: OutputPlace,
  { query, own }: PrintedBy = {},
): ResultPrinter {
  // With `highstate` the result's own outputter is used.
  const requested = settings.out === "highstate" || settings.out === null ? undefined : settings.out;
  const file = settings.file ?? undefined;
  const color = isColoured(settings, { ...place, isTerminal: place.isTerminal && file === undefined });
  const put = outputWriter({ file, append: settings.append, write: (text) => place.write(text) });
  const indent = settings.indent ?? undefined;
  const print: PrintResult = (value, { out, retcode, errorDetails } = {}) => {
    let last = "";
    // The result of a query does not have the form for the result's own outputter.
    const outputter = chooseOutputter(requested, query === undefined ? out : undefined);
    const isMachine = query !== undefined || MACHINE_OUTPUTTERS.includes(outputter);
    const options = {
      out: outputter,
      color,
      indent,
      retcode,
      redFailures: true,
      states: settings.states,
      table: settings.table,
      columns: place.isTerminal && file === undefined ? place.columns : undefined,
      warn: (text: string) => place.warn(text),
    };
    // A text of one piece, as nearly all are, is written with its line end at once.
    const shown = isMachine ? value : detailed(value, errorDetails);
    const text = own === undefined ? undefined : formatOwn(own, query === undefined ? value : query(value), options);
    if (text !== undefined) return put(text);
    writeOutput(query === undefined ? shown : query(shown), options, (piece) => {
      if (last !== "") put.piece(last);
      last = piece;
    });
    put(last);
  };
  return Object.assign(print, { [Symbol.dispose]: () => put[Symbol.dispose]() });
}

/** A code of colours, behind a control character. */
const SGR = /(\p{Cc}\[[\d;]*m)/u;

/** The text of an own outputter; `undefined` if it fails, which is said: then `nested` is used, as in Salt. */
function formatOwn(
  own: OwnOutputter,
  value: Value,
  options: { out: string; readonly color: boolean; warn(text: string): void },
): string | undefined {
  try {
    // Colours are its own; what else controls a terminal may come from a minion.
    const parts = own(value, options.color).split(SGR);
    return parts.map((part, i) => i % 2 === 1 && options.color && part.startsWith("\x1b") ? part : sanitize(part)).join(
      "",
    ).trimEnd();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    options.warn(`The outputter ${options.out} failed, fall back to nested: ${sanitize(error.message)}`);
    options.out = "nested";
    return undefined;
  }
}

/** The results of minions under their names, with the details of the errors that they list. */
function detailed(value: Value, errorDetails: PrintHints["errorDetails"]): Value {
  if (errorDetails === undefined || !isMap(value)) return value;
  // Of an orchestration, beside its outputter and its return code.
  const data = value.get("data");
  if (isMap(data) && value.has("outputter")) return new Map(value).set("data", detailed(data, errorDetails));
  return new Map([...value].map(([name, returned]) => {
    const details = errorDetails.get(name);
    return [name, details === undefined ? returned : withErrorDetails(returned, details)];
  }));
}
