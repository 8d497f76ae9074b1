/**
 * Templates of TextFSM: values, and states with rules, line by line.
 * Source: github.com/google/textfsm/wiki/TextFSM; textfsm 2.1.0, whose errors Salt shows.
 * @module
 */

import { CommandError, messageOf, RegexError } from "#lib/errors.ts";
import { type PythonRegex, pythonRegex } from "#lib/regex/regex.ts";
import { rstrip, strip } from "#lib/values/python_text.ts";

/** The options that a value can have. */
export const VALUE_OPTIONS = ["Required", "Filldown", "Fillup", "Key", "List"] as const;
/** One of them: whether a value must be there, stays for the next record, fills those before, or is a list. */
export type ValueOption = typeof VALUE_OPTIONS[number];

/** A declared value. */
export interface TemplateValue {
  readonly name: string;
  /** In the order in which they were given. */
  readonly options: readonly ValueOption[];
  /** Its expression; it is compiled for lists, whose groups become maps. */
  readonly regex: string;
}

/** A rule of a state. */
export interface TemplateRule {
  readonly regex: PythonRegex;
  readonly lineOp: string;
  readonly recordOp: string;
  /** The state after it; empty: the same. The text of an error for the operation `Error`. */
  readonly newState: string;
  /** Its line in the template. */
  readonly line: number;
}

/** A template that was read. */
export interface DeviceTemplate {
  readonly values: readonly TemplateValue[];
  readonly states: ReadonlyMap<string, readonly TemplateRule[]>;
}

const MAX_NAME_LENGTH = 48;
const OPERATIONS = ["Continue", "Next", "Error", "Clear", "Clearall", "Record", "NoRecord"];
const LINE_ACTION = /^\s+(Continue|Next|Error)(?:\.(Clear|Clearall|Record|NoRecord))?(?:\s+([\p{L}\p{N}_]+|".*"))?$/u;
const RECORD_ACTION = /^\s+(Clear|Clearall|Record|NoRecord)(?:\s+([\p{L}\p{N}_]+|".*"))?$/u;
const STATE_ACTION = /^(?:\s+([\p{L}\p{N}_]+|".*"))?$/u;
const STATE_NAME = /^[\p{L}\p{N}_]+$/u;

/** What is wrong with a template. */
export class DeviceTemplateError extends CommandError {}

/**
 * Reads a template.
 * @throws {DeviceTemplateError} With the words of TextFSM.
 */
export function readTemplate(text: string): DeviceTemplate {
  return new TemplateReader(text).read();
}

function isComment(line: string): boolean {
  return /^\s*#/.test(line);
}

class TemplateReader {
  readonly #lines: readonly string[];
  #at = 0;
  readonly #values: TemplateValue[] = [];
  readonly #states = new Map<string, TemplateRule[]>();

  constructor(text: string) {
    const lines = text.split(/\r\n|\r|\n/);
    if (lines.at(-1) === "") lines.pop();
    this.#lines = lines.map(rstrip);
  }

  read(): DeviceTemplate {
    this.#readValues();
    while (this.#readState());
    this.#check();
    return { values: this.#values, states: this.#states };
  }

  #next(): string | undefined {
    return this.#lines[this.#at++];
  }

  #readValues(): void {
    for (let line = this.#next(); line !== undefined && line !== ""; line = this.#next()) {
      if (isComment(line)) continue;
      if (!line.startsWith("Value ")) {
        throw new DeviceTemplateError(
          this.#values.length === 0
            ? "No Value definitions found."
            : `Expected blank line after last Value entry. Line: ${this.#at}.`,
        );
      }
      const value = readValue(line, this.#at);
      if (this.#values.some(({ name }) => name === value.name)) {
        throw new DeviceTemplateError(`Duplicate declarations for Value '${value.name}'. Line: ${this.#at}.`);
      }
      this.#values.push(value);
    }
  }

  /** @returns Whether there was one. */
  #readState(): boolean {
    let name = this.#next();
    while (name !== undefined && (name === "" || isComment(name))) name = this.#next();
    if (name === undefined) return false;
    if (!STATE_NAME.test(name) || name.length > MAX_NAME_LENGTH || OPERATIONS.includes(name)) {
      throw new DeviceTemplateError(`Invalid state name: '${name}'. Line: ${this.#at}`);
    }
    if (this.#states.has(name)) throw new DeviceTemplateError(`Duplicate state name: '${name}'. Line: ${this.#at}`);
    const rules: TemplateRule[] = [];
    this.#states.set(name, rules);
    for (let line = this.#next(); line !== undefined && line !== ""; line = this.#next()) {
      if (isComment(line)) continue;
      if (!/^(?: {1,2}|\t)\^/.test(line)) {
        throw new DeviceTemplateError(`Missing white space or carat ('^') before rule. Line: ${this.#at}`);
      }
      rules.push(readRule(strip(line), this.#at, this.#values));
    }
    return true;
  }

  #check(): void {
    if (!this.#states.has("Start")) throw new DeviceTemplateError("Missing state 'Start'.");
    for (const name of ["End", "EOF"]) {
      if ((this.#states.get(name) ?? []).length > 0) throw new DeviceTemplateError(`Non-Empty '${name}' state.`);
    }
    this.#states.delete("End");
    for (const [state, rules] of this.#states) {
      for (const { lineOp, newState } of rules) {
        if (lineOp === "Error" || ["", "End", "EOF"].includes(newState) || this.#states.has(newState)) continue;
        throw new DeviceTemplateError(`State '${newState}' not found, referenced in state '${state}'`);
      }
    }
  }
}

function readValue(line: string, number: number): TemplateValue {
  const fail = (reason: string): never => {
    throw new DeviceTemplateError(`${reason} Line ${number}.`);
  };
  const words = line.split(" ");
  if (words.length < 3) fail("Expect at least 3 tokens on line.");
  const hasOptions = !words[2].startsWith("(");
  const options: ValueOption[] = [];
  for (const word of hasOptions ? words[1].split(",") : []) {
    const option = VALUE_OPTIONS.find((one) => one === word);
    if (option !== undefined && options.includes(option)) fail(`Duplicate option "${word}"`);
    options.push(option ?? fail(`Unknown option "${word}"`));
  }
  const [name, regex] = hasOptions ? [words[2], words.slice(3).join(" ")] : [words[1], words.slice(2).join(" ")];
  if (name.length > MAX_NAME_LENGTH) fail(`Invalid Value name '${name}' or name too long.`);
  if (!regex.startsWith("(") || !regex.endsWith(")") || regex.endsWith("\\)")) {
    fail(`Value '${regex}' must be contained within a '()' pair.`);
  }
  try {
    pythonRegex(regex);
  } catch (error) {
    fail(error instanceof RegexError ? error.problem : messageOf(error));
  }
  return { name, options, regex };
}

function readRule(line: string, number: number, values: readonly TemplateValue[]): TemplateRule {
  const [, matched, action] = /^(.*)\s->(.*)$/s.exec(line) ?? [];
  const match = matched ?? line;
  const source = values.length === 0 ? match : substituted(match, values);
  if (source === undefined) {
    throw new DeviceTemplateError(`Duplicate or invalid variable substitution: '${match}'. Line: ${number}.`);
  }
  const regex = compiled(source, number);
  if (action === undefined) return { regex, lineOp: "", recordOp: "", newState: "", line: number };
  const [, lineOp = "", recordOp = "", newState = ""] = LINE_ACTION.exec(action) ?? recordAction(action) ??
    badRule(line, number);
  if (lineOp === "Continue" && newState !== "") {
    throw new DeviceTemplateError(`Action '${lineOp}' with new state ${newState} specified. Line: ${number}.`);
  }
  if (lineOp !== "Error" && newState.startsWith('"')) {
    throw new DeviceTemplateError(`Alphanumeric characters only in state names. Line: ${number}.`);
  }
  return { regex, lineOp, recordOp, newState, line: number };
}

function recordAction(action: string): string[] | undefined {
  const [, recordOp = "", newState = ""] = RECORD_ACTION.exec(action) ?? [];
  if (recordOp !== "") return ["", "", recordOp, newState];
  const found = STATE_ACTION.exec(action);
  return found === null ? undefined : ["", "", "", found[1] ?? ""];
}

function badRule(line: string, number: number): never {
  throw new DeviceTemplateError(`Badly formatted rule '${line}'. Line: ${number}.`);
}

function compiled(source: string, number: number): PythonRegex {
  try {
    return pythonRegex(source);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new DeviceTemplateError(`Invalid regular expression: '${source}'. Line: ${number}.`, { cause: error });
  }
}

/** A rule's expression with those of its values, as Python's `string.Template`; `undefined` if one is not there. */
function substituted(match: string, values: readonly TemplateValue[]): string | undefined {
  let isWrong = false;
  const text = match.replace(/\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})?/g, (_, dollar, plain, braced) => {
    if (dollar !== undefined) return "$";
    const value = values.find(({ name }) => name === (plain ?? braced));
    if (value === undefined) isWrong = true;
    return value === undefined ? "" : value.regex.replace("(", () => `(?P<${value.name}>`);
  });
  return isWrong ? undefined : text;
}
