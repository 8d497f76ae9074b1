/**
 * The files of Python's `configparser`, as the serializer of that name reads and writes them.
 * Source: docs.python.org, "configparser" (default options).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { isMap, repr, str, type ValueMap } from "#lib/values/value.ts";

/** The section with options that all other sections have too. */
const DEFAULT = "DEFAULT";

/** Whether a percent sign stands alone in a value, where it should be doubled or begin the name of another option. */
function hasBarePercent(text: string): boolean {
  return /%(?!\([^)]+\)s)/.test(text.replaceAll("%%", ""));
}

/**
 * Writes sections of options.
 * @throws {CommandError} For values that the format cannot represent.
 */
export function writeConfigParser(sections: ValueMap): string {
  const blocks: string[] = [];
  for (const [section, options] of sections) {
    if (!isMap(options)) throw new CommandError(`The section ${str(section)} is no dictionary of options`);
    const lines = Array.from(options, ([name, value]) => {
      const text = str(value);
      if (value === null) throw new CommandError("option values must be strings");
      if (hasBarePercent(text)) throw new CommandError(`invalid interpolation syntax in '${text}'`);
      return `${str(name).toLowerCase()} = ${text.replaceAll("\n", "\n\t")}\n`;
    });
    blocks.push(`[${str(section)}]\n${lines.join("")}\n`);
  }
  return blocks.join("");
}

/**
 * The options of each section.
 * @param how.file The name of the text's file, for errors, which have Python's words. `defaults`: options that all
 * sections have.
 * @throws {CommandError} If the text is no such file.
 */
export function readConfigParser(
  text: string,
  { file = "<???>", defaults = new Map() }: { readonly file?: string; readonly defaults?: ValueMap } = {},
): ValueMap {
  const sections = new Map<string, Map<string, string[]>>();
  let section: Map<string, string[]> | undefined;
  let value: string[] | undefined;
  const wrong: string[] = [];
  let name = "", level = 0;
  const twice = (i: number, what: string) =>
    new CommandError(`While reading from ${repr(file)} [line ${String(i + 1).padStart(2)}]: ${what} already exists`);
  for (const [i, ended] of (text.replaceAll(/\r\n?/g, "\n").match(/[^\n]*\n|[^\n]+$/g) ?? []).entries()) {
    const line = ended.replace(/\n$/, "");
    const bare = line.trim();
    if (/^[#;]/.test(bare)) continue;
    const indent = line.length - line.trimStart().length;
    // A line continues the option's value if it is indented more than the option.
    if (value !== undefined && (bare === "" || indent > level)) {
      value.push(bare);
      continue;
    }
    if (bare === "") continue;
    level = indent;
    const header = /^\[(.+)\]/.exec(bare);
    if (header !== null) {
      name = header[1];
      value = undefined;
      const existing = sections.get(name);
      if (existing !== undefined && name !== DEFAULT) throw twice(i, `section ${repr(name)}`);
      sections.set(name, section = existing ?? new Map());
      continue;
    }
    const option = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(bare);
    if (section === undefined) {
      throw new CommandError(`File contains no section headers.\nfile: ${repr(file)}, line: ${i + 1}\n${repr(ended)}`);
    }
    if (option === null) {
      wrong.push(`\n\t[line ${String(i + 1).padStart(2)}]: ${repr(ended)}`);
      continue;
    }
    const key = option[1].toLowerCase();
    if (section.has(key)) throw twice(i, `option ${repr(key)} in section ${repr(name)}`);
    value = [option[2]];
    section.set(key, value);
  }
  if (wrong.length > 0) throw new CommandError(`Source contains parsing errors: ${repr(file)}${wrong.join("")}`);
  const given = [...defaults].map(([key, item]): [string, string[]] => [str(key).toLowerCase(), [str(item)]]);
  if (given.length > 0) sections.set(DEFAULT, new Map([...given, ...sections.get(DEFAULT) ?? []]));
  return resolvedSections(sections);
}

function resolvedSections(sections: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>): ValueMap {
  const textOf = (lines: readonly string[]) => lines.join("\n").trimEnd();
  const defaults = Array.from(sections.get(DEFAULT) ?? [], ([name, lines]) => [name, textOf(lines)] as const);
  const made: ValueMap = new Map();
  for (const [section, own] of sections) {
    if (section === DEFAULT) continue;
    const options = new Map([...defaults, ...Array.from(own, ([name, lines]) => [name, textOf(lines)] as const)]);
    made.set(section, new Map([...options].map(([name]) => [name, interpolate(name, { section, options })])));
  }
  return made;
}

/** Maximum depth of references between options. */
const DEEPEST = 10;

/**
 * The value of an option, with those of others that it names.
 * @throws {CommandError} With Python's words.
 */
function interpolate(
  option: string,
  { section, options }: { readonly section: string; readonly options: ReadonlyMap<string, string> },
): string {
  const raw = options.get(option) ?? "";
  const place = `option ${repr(option)} in section ${repr(section)} contains an interpolation key`;
  const expand = (text: string, depth: number): string => {
    if (depth > DEEPEST) {
      throw new CommandError(
        `Recursion limit exceeded in value substitution: ${place} which cannot be substituted in ${DEEPEST} steps. ` +
          `Raw value: ${repr(raw)}`,
      );
    }
    return text.replace(/%%|%\(([^)]+)\)s|%(\(?).*/gs, (all, name: string | undefined, bracket: string | undefined) => {
      if (name === undefined && bracket === undefined) return "%";
      if (name === undefined) {
        throw new CommandError(
          bracket === "("
            ? `bad interpolation variable reference ${repr(all)}`
            : `'%' must be followed by '%' or '(', found: ${repr(all)}`,
        );
      }
      const other = options.get(name.toLowerCase());
      if (other !== undefined) return expand(other, depth + 1);
      const key = repr(name.toLowerCase());
      throw new CommandError(
        `Bad value substitution: ${place} ${key} which is not a valid option name. Raw value: ${repr(raw)}`,
      );
    });
  };
  return expand(raw, 1);
}
