/**
 * Reads the `permissions` that the functions of a module's file declare, from the text of the file. Nothing is run:
 * libraries that a module imports could change what the running module says about itself. Only literals count:
 * `permissions: "all"` in the object of an exported constant, and `name.permissions = { read: ["/etc"] }` as a
 * top-level statement. Anything else is a problem, and grants nothing. `export const virtual = { … }` is read likewise,
 * so that the minion knows where a module serves before it is loaded.
 * @module
 */

import { type SourceToken, sourceTokens } from "./source_tokens.ts";
import { parsePermissions, type Permissions } from "./permissions.ts";
import { parseVirtual, type Virtual } from "./virtual.ts";

/** The permissions of one function in the text, or why they cannot be read. */
export type DeclaredPermissions = { readonly permissions: Permissions } | { readonly problem: string };

/** The declarations of a file. */
export interface Declarations {
  /** By Salt's name of the function. A function that is missing here declares nothing: "none". */
  readonly functions: ReadonlyMap<string, DeclaredPermissions>;
  /** The names of all exports; `undefined` if the text does not show them: `export * from …`. */
  readonly exports: ReadonlySet<string> | undefined;
  /** The literal of `export const virtual = …`: where the module serves, and its name there. */
  readonly virtual: DeclaredVirtual;
}

/** Where a module serves, or why that cannot be read. */
export type DeclaredVirtual = { readonly virtual: Virtual } | { readonly problem: string };

/** Larger files are not read for declarations, in UTF-16 units. */
const MAX_TEXT = 1 << 20;

/**
 * The declarations in `text`.
 * @throws {SyntaxError} If it cannot be read as JavaScript or TypeScript.
 */
export function declaredPermissions(text: string): Declarations {
  if (text.length > MAX_TEXT) throw new SyntaxError(`it is longer than ${MAX_TEXT} characters`);
  return new DeclarationReader(sourceTokens(text)).read();
}

/** Salt's name of an export: `true_` is `true`. */
function saltName(exported: string): string {
  return exported.replace(/_$/, "");
}

class DeclarationReader {
  readonly #tokens: readonly SourceToken[];
  readonly #declared = new Map<string, DeclaredPermissions>();
  /** Local names by exported names. */
  readonly #exports = new Map<string, string>();
  #complete = true;
  #virtual: DeclaredVirtual = { virtual: {} };

  constructor(tokens: readonly SourceToken[]) {
    this.#tokens = tokens;
  }

  read(): Declarations {
    for (let at = 0, depth = 0; at < this.#tokens.length; at++) {
      const { text, kind } = this.#tokens[at];
      if (depth === 0 && kind === "word" && this.#startsStatement(at)) this.#statement(at);
      if (kind !== "punctuator") continue;
      if ("([{".includes(text)) depth++;
      if (")]}".includes(text)) depth--;
    }
    const functions = new Map<string, DeclaredPermissions>();
    for (const [exported, local] of this.#exports) {
      const permissions = this.#declared.get(local);
      if (permissions !== undefined) functions.set(saltName(exported), permissions);
    }
    const exports = this.#complete ? new Set([...this.#exports.keys()].map(saltName)) : undefined;
    return { functions, exports, virtual: this.#virtual };
  }

  #text(at: number): string | undefined {
    const token = this.#tokens[at];
    return token === undefined || token.kind === "string" || token.kind === "other" ? undefined : token.text;
  }

  #startsStatement(at: number): boolean {
    const before = this.#tokens[at - 1];
    if (before === undefined || before.text === ";" || before.text === "}") return true;
    return this.#tokens[at].afterLine && (before.kind !== "punctuator" || ")]".includes(before.text));
  }

  #statement(start: number): void {
    let at = start;
    const isExport = this.#text(at) === "export";
    if (isExport) at++;
    if (isExport && this.#text(at) === "{") return this.#exportList(at + 1);
    if (isExport && (this.#text(at) === "*" || this.#text(at) === "default")) {
      if (this.#text(at) === "*") this.#complete = false;
      return;
    }
    while (["async", "declare", "abstract"].includes(this.#text(at) ?? "")) at++;
    const word = this.#text(at);
    if (word === "const" || word === "let" || word === "var") return this.#variable(at + 1, isExport);
    if (word === "function" || word === "class") {
      const name = this.#text(this.#text(at + 1) === "*" ? at + 2 : at + 1);
      if (isExport && name !== undefined) this.#exports.set(name, name);
      return;
    }
    if (!isExport && this.#text(at + 1) === "." && this.#text(at + 2) === "permissions" && this.#text(at + 3) === "=") {
      this.#declare(this.#text(at) ?? "", at + 4, true);
    }
  }

  /** `export { a, b as c };`; with `from`, nothing is known of the names. */
  #exportList(start: number): void {
    let at = start;
    const names: [string, string][] = [];
    while (this.#tokens[at] !== undefined && this.#text(at) !== "}") {
      if (this.#text(at) === ",") {
        at++;
        continue;
      }
      const local = this.#tokens[at].text;
      const renamed = this.#text(at + 1) === "as";
      names.push([this.#tokens[renamed ? at + 2 : at]?.text ?? local, local]);
      at += renamed ? 3 : 1;
    }
    if (this.#text(at + 1) === "from") this.#complete = false;
    else for (const [exported, local] of names) if (exported !== "default") this.#exports.set(exported, local);
  }

  /** `const NAME: Type = { … }`: looks for the property `permissions`. */
  #variable(nameAt: number, isExport: boolean): void {
    const name = this.#tokens[nameAt];
    // A destructuring (`const { f } = …`) declares nothing readable.
    if (name?.kind !== "word") return void (this.#complete &&= !isExport);
    if (isExport) this.#exports.set(name.text, name.text);
    let at = nameAt + 1;
    for (let depth = 0; at < this.#tokens.length; at++) {
      const text = this.#text(at) ?? "";
      if (depth === 0 && (text === "=" || text === ";")) break;
      if (["(", "[", "{"].includes(text)) depth++;
      if ([")", "]", "}"].includes(text)) depth--;
    }
    if (isExport) this.#lookForMore(at);
    if (isExport && name.text === "virtual") this.#readVirtual(at);
    if (this.#text(at) !== "=" || this.#text(at + 1) !== "{") return;
    for (let depth = 0, i = at + 1; i < this.#tokens.length; i++) {
      const text = this.#text(i) ?? "";
      if (["(", "[", "{"].includes(text)) depth++;
      if ([")", "]", "}"].includes(text) && --depth === 0) return;
      const isKey = depth === 1 && this.#tokens[i].text === "permissions" && this.#tokens[i].kind !== "other" &&
        ["{", ","].includes(this.#text(i - 1) ?? "");
      if (isKey && [",", "}"].includes(this.#text(i + 1) ?? "")) this.#unreadable(name.text, i, "a variable");
      else if (isKey && this.#text(i + 1) === ":") this.#declare(name.text, i + 2, false);
    }
  }

  /** @param at The `=` after the name. */
  #readVirtual(at: number): void {
    const literal = this.#text(at) === "=" ? this.#literal(at + 1, 7) : undefined;
    const next = literal && this.#tokens[literal.end];
    const ends = next === undefined || next.text === ";" || (next.afterLine && next.kind === "word") ||
      ["as", "satisfies"].includes(next.text);
    if (literal === undefined || !ends) {
      this.#virtual = { problem: `"virtual" is no literal in line ${this.#tokens[at]?.line}` };
      return;
    }
    try {
      this.#virtual = { virtual: parseVirtual(literal.value) };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#virtual = { problem: error.message };
    }
  }

  /** Further names after a comma are not read. */
  #lookForMore(start: number): void {
    for (let at = start, depth = 0; at < this.#tokens.length; at++) {
      const text = this.#text(at) ?? "";
      if (depth === 0 && (text === ";" || (text === "export" && this.#tokens[at].afterLine))) return;
      if (depth === 0 && text === ",") this.#complete = false;
      if (["(", "[", "{"].includes(text)) depth++;
      if ([")", "]", "}"].includes(text)) depth--;
    }
  }

  #unreadable(name: string, at: number, what: string): void {
    const { line } = this.#tokens[at] ?? this.#tokens[this.#tokens.length - 1];
    this.#declared.set(name, { problem: `"permissions" of ${saltName(name)} is ${what} in line ${line}` });
  }

  #declare(name: string, start: number, isStatement: boolean): void {
    if (this.#declared.has(name)) return this.#unreadable(name, start, "declared a second time");
    const literal = this.#literal(start);
    if (literal === undefined) return this.#unreadable(name, start, "no literal");
    let end = literal.end;
    if (this.#text(end) === "as" && this.#text(end + 1) === "const") end += 2;
    const next = this.#tokens[end];
    const ends = next === undefined ||
      (isStatement ? next.text === ";" || (next.afterLine && next.kind === "word") : [",", "}"].includes(next.text));
    if (!ends) return this.#unreadable(name, end, "no literal");
    try {
      this.#declared.set(name, { permissions: parsePermissions(literal.value, `${name}.permissions`) });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#declared.set(name, { problem: error.message });
    }
  }

  /** The literal at `at`: text, true, false, a list, or an object of them; `undefined` if there is none. */
  #literal(at: number, depth = 4): { readonly value: unknown; readonly end: number } | undefined {
    const token = this.#tokens[at];
    if (token === undefined || depth === 0) return undefined;
    if (token.kind === "string") return { value: token.text, end: at + 1 };
    if (token.text === "true" || token.text === "false") return { value: token.text === "true", end: at + 1 };
    if (token.kind !== "punctuator" || (token.text !== "[" && token.text !== "{")) return undefined;
    const isList = token.text === "[";
    const entries: [string, unknown][] = [];
    let i = at + 1;
    while (this.#text(i) !== (isList ? "]" : "}")) {
      let key = String(entries.length);
      if (!isList) {
        const token = this.#tokens[i];
        if (token === undefined || token.kind === "other" || this.#text(i + 1) !== ":") return undefined;
        key = token.text;
        i += 2;
      }
      const item = this.#literal(i, depth - 1);
      if (item === undefined) return undefined;
      entries.push([key, item.value]);
      i = item.end;
      if (this.#text(i) === ",") i++;
      else if (this.#text(i) !== (isList ? "]" : "}")) return undefined;
    }
    if (new Set(entries.map(([key]) => key)).size < entries.length) return undefined;
    const value = isList ? entries.map(([, item]) => item) : Object.fromEntries(entries);
    return { value, end: i + 1 };
  }
}
