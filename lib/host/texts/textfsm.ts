/**
 * Runs a template of TextFSM over a text: each line is tried with the rules of the state, and gives values, which
 * become records.
 * Source: textfsm 2.1.0, `parser.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import type { Capture } from "#lib/regex/program.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { codePoints } from "#lib/values/code_points.ts";
import { truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { DeviceTemplate, TemplateRule, TemplateValue } from "./textfsm_template.ts";

/**
 * The records of a text: the values in the order of the template.
 * @throws {CommandError} If a rule says that the text is an error.
 */
export function parseWithTemplate(template: DeviceTemplate, text: string): Value[][] {
  return new Machine(template).run(splitLines(text));
}

/** A value while the text is read. */
class Current {
  value: Value = null;
  /** The last value of one that is filled down. */
  #kept: Value = null;
  #list: Value[] = [];

  constructor(readonly declared: TemplateValue) {}

  has(option: TemplateValue["options"][number]): boolean {
    return this.declared.options.includes(option);
  }

  /** @param fillUp Fills the records before. */
  assign(text: Value, fillUp: () => void): void {
    this.value = text;
    for (const option of this.declared.options) {
      if (option === "Filldown") this.#kept = this.value;
      else if (option === "Fillup") fillUp();
      else if (option === "List") this.#list.push(this.#listItem());
    }
  }

  clear(): void {
    this.value = this.has("Filldown") ? this.#kept : null;
    if (!this.has("Filldown")) this.#list = [];
  }

  clearAll(): void {
    this.value = this.#kept = null;
    this.#list = [];
  }

  /** @returns Whether there may be a record with it. */
  save(): boolean {
    for (const option of this.declared.options) {
      if (option === "Required" && !truthy(this.value)) return false;
      if (option === "List") this.value = [...this.#list];
    }
    return true;
  }

  /** A text, or a map of the named groups in the value's expression. */
  #listItem(): Value {
    const { value, declared } = this;
    const regex = pythonRegex(declared.regex);
    if (regex.groups < 2 || regex.names.size === 0 || typeof value !== "string") return value;
    const codes = codePoints(value);
    const found = regex.capture(codes);
    return found === undefined ? value : groupsOf(regex.names, found, codes);
  }
}

/** The texts of named groups; None for one that took no part. */
function groupsOf(names: ReadonlyMap<string, number>, found: Capture, codes: readonly number[]): ValueMap {
  return new Map([...names].map(([name, number]): [Value, Value] => {
    const span = found.groups[number - 1];
    return [name, span === undefined ? null : textOf(codes.slice(span.start, span.end))];
  }));
}

function textOf(codes: readonly number[]): string {
  return codes.map((code) => String.fromCodePoint(code)).join("");
}

class Machine {
  readonly #values: readonly Current[];
  readonly #records: Value[][] = [];
  #state = "Start";
  #rules: readonly TemplateRule[];

  constructor(readonly template: DeviceTemplate) {
    this.#values = template.values.map((value) => new Current(value));
    this.#rules = template.states.get("Start") ?? [];
  }

  run(lines: readonly string[]): Value[][] {
    for (const line of lines) {
      this.#line(line);
      if (this.#state === "End" || this.#state === "EOF") break;
    }
    if (this.#state !== "End" && !this.template.states.has("EOF")) this.#record();
    return this.#records;
  }

  #line(line: string): void {
    const codes = codePoints(line);
    for (const rule of this.#rules) {
      const found = rule.regex.capture(codes);
      if (found === undefined) continue;
      for (const [name, text] of groupsOf(rule.regex.names, found, codes)) {
        const i = this.#values.findIndex(({ declared }) => declared.name === name);
        if (i >= 0) this.#values[i].assign(text, () => this.#fillUp(i));
      }
      this.#operate(rule, line);
      if (rule.lineOp === "Continue") continue;
      if (rule.newState !== "") {
        this.#rules = this.template.states.get(rule.newState) ?? this.#rules;
        this.#state = rule.newState;
      }
      return;
    }
  }

  #operate({ recordOp, lineOp, newState, line: number }: TemplateRule, line: string): void {
    if (recordOp === "Record") this.#record();
    else if (recordOp === "Clear") { for (const value of this.#values) value.clear(); }
    else if (recordOp === "Clearall") { for (const value of this.#values) value.clearAll(); }
    if (lineOp !== "Error") return;
    throw new CommandError(
      newState === ""
        ? `State Error raised. Rule Line: ${number}. Input Line: ${line}`
        : `Error: ${newState}. Rule Line: ${number}. Input Line: ${line}.`,
    );
  }

  #fillUp(i: number): void {
    const { value } = this.#values[i];
    if (!truthy(value)) return;
    for (const record of this.#records.toReversed()) {
      if (truthy(record[i])) return;
      record[i] = value;
    }
  }

  #record(): void {
    if (this.#values.length === 0) return;
    const isWhole = this.#values.every((value) => value.save());
    const record = this.#values.map(({ value }) => value);
    if (isWhole) {
      if (record.every((value) => value === null || (Array.isArray(value) && value.length === 0))) return;
      this.#records.push(record.map((value) => value ?? ""));
    }
    for (const value of this.#values) value.clear();
  }
}
