/**
 * Command lines: options declared as data, parsed as Python's optparse parses them for Salt.
 *
 * Short options may be bundled (`-vs`) and take their value attached, long ones may be shortened while that is
 * unambiguous, positional arguments may stand anywhere, `--` ends the options. Prints nothing (`run_command.ts` does)
 * and knows no configuration. Source: docs.python.org, "optparse".
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { UsageError } from "#lib/errors.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { isInt, isMap, toNumber, type Value } from "#lib/values/value.ts";

/** What an option takes: nothing, a value, or a value each time that it is given. */
export type CliKind = "flag" | "text" | "int" | "float" | "choice" | "append";

/** One option of a command. `T` is the TypeScript type of its value. */
export interface CliOption<T = unknown> {
  readonly kind: CliKind;
  /** Its names as typed: `["-t", "--timeout"]`. */
  readonly flags: readonly string[];
  /** What it does; `%default` stands for the default. */
  readonly help: string;
  /** The default value. */
  readonly default: unknown;
  /** The name of its value in help; default: its name in capitals. */
  readonly metavar?: string;
  /** Its value when it is typed without `=VALUE`; the next word is then not its value. Default: it needs one. */
  readonly bare?: string;
  /** What a `choice` chooses from. */
  readonly choices?: readonly string[];
  /** The heading that help lists it under, out of {@linkcode CommandLine.groups}. */
  readonly group?: string;
  /** Holds the TypeScript type of the value; never set. */
  readonly bound?: T;
}

/** Options by the name that the program uses. */
export type CliTable = Readonly<Record<string, CliOption>>;

/** What the options of a table hold after parsing. */
export type CliValues<T extends CliTable> = { [K in keyof T]: T[K] extends CliOption<infer V> ? V : never };

/** One command: what it is called, what it takes. */
export interface CommandLine<T extends CliTable> {
  /** Its name: `salt-key`. */
  readonly prog: string;
  /** What follows the name in the usage line: `[options] '<target>' <function> [arguments]`. */
  readonly usage: string;
  /** One paragraph for help. */
  readonly description: string;
  /** Whole command lines for help, each with what it does. */
  readonly examples?: readonly (readonly [line: string, does: string])[];
  /** Its options, in the order of help. `--version`, `-V`, `--licenses` and `-h` are every command's. */
  readonly options: T;
}

/** What was typed. */
export interface Parsed<T extends CliTable> {
  /** The value of each option. */
  options: CliValues<T>;
  /** The names of the options that were given, rather than left at their defaults. */
  readonly given: Set<string>;
  readonly args: string[];
}

/** What a command line asks for. */
export type CommandLineRequest<T extends CliTable> =
  | { readonly kind: "help" | "version" | "versions" | "licenses" }
  | { readonly kind: "run"; readonly parsed: Parsed<T> };

/** What every option may say besides its flags and help. */
export interface Details {
  /** How help calls the value. */
  readonly metavar?: string;
  /** The heading that help lists it under. */
  readonly group?: string;
}

/** An option without a value. */
export function flag(flags: readonly string[], help: string, details: Details = {}): CliOption<boolean> {
  return { kind: "flag", flags, help, default: false, ...details };
}

/** An option that may have a text behind `=`, and is `bare` without one. */
export function optionalTextFlag(
  flags: readonly string[],
  help: string,
  details: Details & { readonly bare: string },
): CliOption<string | null> {
  return { kind: "text", flags, help, default: null, ...details };
}

/** An option with a text. */
export function textFlag<D extends string | null = null>(
  flags: readonly string[],
  help: string,
  details: Details & { readonly default?: D } = {},
): CliOption<string | D> {
  return { kind: "text", flags, help, default: null, ...details };
}

/** An option with an int. */
export function intFlag<D extends number | null = null>(
  flags: readonly string[],
  help: string,
  details: Details & { readonly default?: D } = {},
): CliOption<number | D> {
  return { kind: "int", flags, help, default: null, ...details };
}

/** An option with a number, in seconds as a rule. */
export function floatFlag<D extends number | null = null>(
  flags: readonly string[],
  help: string,
  details: Details & { readonly default?: D } = {},
): CliOption<number | D> {
  return { kind: "float", flags, help, default: null, ...details };
}

/** An option with one word out of a list. */
export function choiceFlag<C extends string>(
  flags: readonly string[],
  help: string,
  details: Details & { readonly choices: readonly C[] },
): CliOption<C | null> {
  return { kind: "choice", flags, help, default: null, ...details };
}

/** An option with a text that may be given more than once. */
export function appendFlag(flags: readonly string[], help: string, details: Details = {}): CliOption<string[]> {
  return { kind: "append", flags, help, default: [], ...details };
}

/** The options that every command has. */
export const STANDARD_OPTIONS = {
  version: flag(["--version"], "Show the version of this program and exit."),
  versions_report: flag(
    ["-V", "--versions-report"],
    "Show the versions of this program and of its dependencies and exit.",
  ),
  licenses: flag(["--licenses"], "Show the licences of this program and of everything that it contains and exit."),
  help: flag(["-h", "--help"], "Show this text and exit."),
} as const satisfies CliTable;

/**
 * Parses the words `argv` of `command`. `-h` and `--version` end the parsing, as in optparse: what follows is not read.
 * @throws {UsageError} For an option that is unknown, ambiguous, or without the value that it needs.
 */
export function parseCommandLine<T extends CliTable>(
  command: CommandLine<T>,
  argv: readonly string[],
): CommandLineRequest<T> {
  const parser = new Parser({ ...STANDARD_OPTIONS, ...command.options });
  const end = parser.parse(argv);
  if (end !== undefined) return { kind: end };
  if (parser.given.has("versions_report")) return { kind: "versions" };
  if (parser.given.has("licenses")) return { kind: "licenses" };
  // The one cast of the parser: `values` holds a value for each option of the table, made by its kind.
  return { kind: "run", parsed: { options: parser.values as CliValues<T>, given: parser.given, args: parser.args } };
}

/**
 * Adds the words of standard input (`--args-stdin`), one per line, to what was typed.
 * @throws {UsageError} As {@linkcode parseCommandLine}; and for words that ask for help or a version, which end the
 * parsing.
 */
export function addStdinArgs<T extends CliTable>(command: CommandLine<T>, typed: Parsed<T>, stdin: string): void {
  const words = stdin.split("\n").map((line) => rstripChars(line, "\r"));
  if (words.at(-1) === "") words.pop();
  const request = parseCommandLine(command, words);
  if (request.kind !== "run") {
    throw new UsageError("standard input (--args-stdin) cannot ask for help or versions");
  }
  const { options, given, args } = request.parsed;
  const added = Object.entries(options).filter(([name]) => given.has(name));
  typed.options = { ...typed.options, ...Object.fromEntries(added) };
  for (const name of given) typed.given.add(name);
  typed.args.push(...args);
}

/**
 * Sets the option `name` to what a Saltfile says, unless it was typed.
 * @throws {UsageError} If the value does not fit the option.
 */
export function setFromFile<T extends CliTable>(
  command: CommandLine<T>,
  typed: Parsed<T>,
  entry: [string, Value],
): void {
  const [name, value] = entry;
  if (typed.given.has(name) || !Object.hasOwn(command.options, name)) return;
  const option = command.options[name];
  const set = fromValue(option, value);
  if (set === undefined) throw new UsageError(`Saltfile: ${name}: invalid value for ${option.flags.at(-1)}`);
  typed.options = { ...typed.options, [name]: set };
  typed.given.add(name);
}

function fromValue(option: CliOption, value: Value): unknown {
  const scalar = value === null || isMap(value) || Array.isArray(value) || value instanceof Uint8Array
    ? undefined
    : String(value);
  switch (option.kind) {
    case "flag":
      return typeof value === "boolean" ? value : undefined;
    case "int":
      return isInt(value) ? Number(value) : undefined;
    case "float":
      return typeof value === "boolean" ? undefined : toNumber(value);
    case "choice":
      return option.choices?.find((word) => word === scalar);
    case "append":
      return Array.isArray(value) ? value.map(String) : scalar === undefined ? undefined : [scalar];
    case "text":
      return scalar;
  }
}

/** Arguments of `state.*` that users write as options. */
const FUNCTION_ARGUMENTS: ReadonlySet<string> = new Set(["test", "pillar", "pillarenv", "saltenv", "exclude", "queue"]);

class Parser {
  readonly values: Record<string, unknown> = {};
  readonly given = new Set<string>();
  readonly args: string[] = [];
  readonly #byFlag = new Map<string, readonly [name: string, option: CliOption]>();
  #rest: string[] = [];

  constructor(table: CliTable) {
    for (const [name, option] of Object.entries(table)) {
      if (!Object.hasOwn(STANDARD_OPTIONS, name)) this.values[name] = option.default;
      for (const flag of option.flags) this.#byFlag.set(flag, [name, option]);
    }
  }

  /** Parses everything; reports whether help or version was requested. */
  parse(argv: readonly string[]): "help" | "version" | undefined {
    this.#rest = [...argv];
    for (let word = this.#rest.shift(); word !== undefined; word = this.#rest.shift()) {
      if (word === "--") {
        this.args.push(...this.#rest.splice(0));
      } else if (word.startsWith("--")) {
        this.#long(word);
      } else if (word.startsWith("-") && word.length > 1) {
        this.#short(word);
      } else {
        this.args.push(word);
      }
      if (this.given.has("help")) return "help";
      if (this.given.has("version")) return "version";
    }
  }

  #long(word: string): void {
    const equals = word.indexOf("=");
    const [flag, [name, option]] = this.#complete(equals < 0 ? word : word.slice(0, equals), this.#argumentHint(word));
    const attached = equals < 0 ? undefined : word.slice(equals + 1);
    if (option.kind === "flag" && attached !== undefined) throw new UsageError(`${flag} option does not take a value`);
    this.#set(name, option, { flag, attached });
  }

  /** The hint for an argument of functions that is written as an option of a command that takes arguments. */
  #argumentHint(word: string): string | undefined {
    const [name, ...value] = word.slice(2).split("=");
    if (!FUNCTION_ARGUMENTS.has(name) || !this.#byFlag.has("--no-parse")) return undefined;
    const hint = value.length > 0 ? value.join("=") : name === "test" ? "True" : "…";
    return `; did you mean the argument ${name}=${hint}?`;
  }

  /**
   * The long option that `flag` is, or is the start of.
   * @param hint Of what it may be otherwise.
   */
  #complete(flag: string, hint?: string): readonly [flag: string, option: readonly [string, CliOption]] {
    const exact = this.#byFlag.get(flag);
    if (exact !== undefined) return [flag, exact];
    const begun = [...this.#byFlag].filter(([known]) => known.startsWith(flag));
    if (begun.length === 1) return begun[0];
    const matches = begun.map(([flag]) => flag).sort();
    throw new UsageError(
      matches.length === 0
        ? `no such option: ${flag}${hint ?? didYouMean(flag, this.#byFlag.keys())}`
        : `ambiguous option: ${flag} (${matches.join(", ")}?)`,
    );
  }

  #short(word: string): void {
    for (let i = 1; i < word.length; i++) {
      const flag = `-${word[i]}`;
      const [name, option] = this.#byFlag.get(flag) ?? [];
      if (name === undefined || option === undefined) throw new UsageError(`no such option: ${flag}`);
      if (option.kind !== "flag") {
        this.#set(name, option, { flag, attached: i + 1 < word.length ? word.slice(i + 1) : undefined });
        return;
      }
      this.#set(name, option, { flag });
      if (name === "help" || name === "version") return;
    }
  }

  #set(name: string, option: CliOption, how: { flag: string; attached?: string }): void {
    this.given.add(name);
    if (option.kind === "flag") {
      if (Object.hasOwn(this.values, name)) this.values[name] = true;
      return;
    }
    const typed = how.attached ?? option.bare ?? this.#rest.shift();
    if (typed === undefined) throw new UsageError(`${how.flag} option requires 1 argument`);
    if (option.kind === "append") {
      const before = this.values[name];
      this.values[name] = [...Array.isArray(before) ? before : [], typed];
    } else {
      this.values[name] = fromText(option, typed, how.flag);
    }
  }
}

function fromText(option: CliOption, typed: string, flag: string): string | number {
  switch (option.kind) {
    case "int": {
      const n = parseInteger(typed);
      if (n === undefined) throw new UsageError(`option ${flag}: invalid integer value: '${typed}'`);
      return n;
    }
    case "float":
      if (!/^\s*[-+]?(\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*$/.test(typed)) {
        throw new UsageError(`option ${flag}: invalid floating-point value: '${typed}'`);
      }
      return Number(typed);
    case "choice":
      if (!option.choices?.includes(typed)) {
        const list = (option.choices ?? []).map((word) => `'${word}'`).join(", ");
        throw new UsageError(`option ${flag}: invalid choice: '${typed}' (choose from ${list})`);
      }
      return typed;
    default:
      return typed;
  }
}

/** An int as optparse reads it: `0x` is hexadecimal, `0b` binary, another leading zero octal. */
function parseInteger(typed: string): number | undefined {
  const bare = typed.trim();
  if (/^0x[\da-f]+$/i.test(bare) || /^0b[01]+$/i.test(bare)) return Number(bare);
  if (/^0[0-7]*$/.test(bare)) return parseInt(bare, 8);
  return /^[-+]?\d+$/.test(bare) && !bare.startsWith("0") ? Number(bare) : undefined;
}
