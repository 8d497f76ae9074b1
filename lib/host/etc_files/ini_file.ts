/**
 * Files of sections and options, as Salt's module `ini` reads and writes them: comments stay, and an option that was
 * commented out takes the place of its comment. Knows no paths. Source: Salt 3008.3, `salt/modules/ini_manage.py`.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { countLongStep } from "#lib/values/stop_word.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

const HEAD = /^\s*\[(.+?)\]\s*$/;
const COMMENT = /^\s*(#|;)\s*(.*)/;
const INDENTED = /^(\s+)(.*)/;

/** The parts of a file: what precedes the first head, and each section. Blank lines around a head belong to it. */
function splitSections(text: string): { readonly name: string; readonly text: string }[] {
  const parts: { name: string; lines: string[] }[] = [{ name: "", lines: [] }];
  for (const line of text.split("\n")) {
    const name = HEAD.exec(line)?.[1];
    const { lines } = parts[parts.length - 1];
    if (name !== undefined) {
      while (lines.at(-1)?.trim() === "") lines.pop();
      parts.push({ name, lines: [] });
    } else if (parts.length === 1 || lines.length > 0 || line.trim() !== "") {
      lines.push(line);
    }
  }
  return parts.map(({ name, lines }) => ({ name, text: lines.join("\n") }));
}

/**
 * The parts of a line `name = value`; `undefined` if it is none. A user may have written the file: a line is not looked
 * at from each of its characters.
 */
function splitOption(
  line: string,
  separator: string,
): { readonly indent: string; readonly name: string; readonly value: string } | undefined {
  const lead = line.length - line.trimStart().length;
  // A name has a character at least, which may be a blank or the separator itself.
  const next = line.indexOf(separator, lead + 1);
  const isBare = next < 0 && lead > 0 && line.startsWith(separator, lead);
  const [start, at] = isBare ? [lead - 1, lead] : [lead, next];
  if (at < 0) return undefined;
  const name = line.slice(start, at).trimEnd() || line.slice(start, start + 1);
  return { indent: line.slice(0, start), name, value: line.slice(at + separator.length).trimStart() };
}

/** What an option changed from and to; None if it was not there. */
type Change = { readonly before: Value; readonly after: Value };

/**
 * A section: options, comments (`#comment1`), lines that are neither (`#unknown1`), and in the file itself the
 * sections.
 */
export class IniSection {
  readonly #entries = new Map<string, string | IniSection>();
  readonly #noSpaces: boolean;
  readonly #wanted: string;
  #separator: string;

  /** @param options.separator What is between a name and its value. */
  constructor(readonly name: string, options: { readonly separator: string; readonly noSpaces?: boolean }) {
    this.#separator = this.#wanted = options.separator;
    this.#noSpaces = options.noSpaces === true;
  }

  /** Reads a whole file. */
  static parse(text: string, options: { readonly separator: string; readonly noSpaces?: boolean }): IniSection {
    const file = new IniSection("", options);
    const [top, ...rest] = splitSections(splitLines(text).join("\n"));
    file.#read(top.text);
    for (const { name, text } of rest) {
      const section = new IniSection(name, { separator: file.#separator, noSpaces: options.noSpaces });
      section.#read(text);
      file.#put(name, section);
    }
    return file;
  }

  #read(text: string): void {
    const trimmed = stripChars(text, "\n");
    if (trimmed === "") return;
    let comments = 1, unknown = 1, indent = "", last: string | undefined;
    for (const line of trimmed.split("\n")) {
      // An option looks at all comments before it.
      countLongStep();
      const indented = INDENTED.exec(line);
      const option = splitOption(line, this.#wanted);
      if (COMMENT.test(line)) {
        last = `#comment${comments++}`;
        this.#entries.set(last, line);
      } else if (last !== undefined && indented !== null && indented[1].replaceAll("\t", "    ") > indent) {
        // A deeper line continues with the one before.
        this.#entries.set(last, `${String(this.#entries.get(last))}\n${line}`);
      } else if (option !== undefined) {
        indent = option.indent.replaceAll("\t", "    ");
        this.#separator = this.#wanted;
        this.#put(option.name, option.value);
        last = [...this.#entries.keys()].at(-1);
      } else {
        last = `#unknown${unknown++}`;
        this.#entries.set(last, line);
      }
    }
  }

  /** The option or section of a name. */
  get(name: string): string | IniSection | undefined {
    return this.#entries.get(name);
  }

  /** Takes an option or a section away. */
  remove(name: string): string | IniSection | undefined {
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    return entry;
  }

  /**
   * Sets options and sections.
   * @returns What changed: `before` and `after` of each.
   */
  update(values: ValueMap): ValueMap {
    const changes: ValueMap = new Map();
    for (const [key, value] of values) {
      const name = str(key);
      const section = isMap(value) ? this.#section(name, value) : str(value);
      const change = this.#put(name, section);
      if (change instanceof Map ? change.size > 0 : change !== undefined) {
        changes.set(name, change instanceof Map ? change : new Map(Object.entries(change ?? {})));
      }
    }
    return changes;
  }

  #section(name: string, values: ValueMap): IniSection {
    const section = new IniSection(name, { separator: this.#separator, noSpaces: this.#noSpaces });
    section.update(values);
    return section;
  }

  #put(name: string, value: string | IniSection): Change | ValueMap | undefined {
    const old = this.#entries.get(name);
    if (old === undefined) {
      if (typeof value === "string") this.#uncomment(name);
      else this.#adopt(value);
      this.#entries.set(name, value);
      return { before: null, after: plain(value) };
    }
    if (old instanceof IniSection && value instanceof IniSection) return old.#merge(value);
    if (old === value) return undefined;
    this.#entries.set(name, value);
    return { before: plain(old), after: plain(value) };
  }

  #merge(other: IniSection): ValueMap {
    const changes: ValueMap = new Map();
    for (const [name, value] of other.#entries) {
      const change = this.#put(name, value);
      if (change instanceof Map ? change.size > 0 : change !== undefined) {
        changes.set(name, change instanceof Map ? change : new Map(Object.entries(change ?? {})));
      }
    }
    return changes;
  }

  /** A section of this file is written as this file is. */
  #adopt(section: IniSection): void {
    section.#separator = this.#separator;
  }

  /** Takes the comment away that has this option, and makes its place the option's. */
  #uncomment(name: string): void {
    let place: string | undefined;
    const behind: [string, string | IniSection][] = [];
    for (const [key, value] of this.#entries) {
      if (place !== undefined) behind.push([key, value]);
      else if (key.includes("#comment") && typeof value === "string") {
        if (splitOption(value.replace(/^#+/, ""), this.#wanted)?.name === name) place = key;
      }
    }
    if (place === undefined) return;
    this.#entries.delete(place);
    for (const [key] of behind) this.#entries.delete(key);
    this.#entries.set(name, "");
    for (const [key, value] of behind) this.#entries.set(key, value);
  }

  /** The text of the section, its head included. */
  *lines(): Generator<string, void> {
    yield `\n[${this.name}]\n`;
    const bare = this.#separator.trim();
    const separator = bare === "" ? " " : this.#noSpaces ? bare : ` ${bare} `;
    const sections: IniSection[] = [];
    for (const [name, value] of this.#entries) {
      if (value instanceof IniSection) sections.push(value);
      else if (COMMENT.test(name)) yield `${value}\n`;
      else yield `${name}${separator}${value}\n`;
    }
    for (const section of sections) yield* section.lines();
  }

  /** The text of the whole file, for what {@linkcode IniSection.parse} gave. */
  text(): string {
    const [, ...lines] = this.lines();
    return lines.join("").replace(/^\n+/, "");
  }

  /**
   * All entries as values.
   * @param options.comments Whether comments and unknown lines are among them.
   */
  values({ comments }: { readonly comments: boolean }): ValueMap {
    const selected = [...this.#entries].filter(([name]) => comments || !name.startsWith("#"));
    return new Map(
      selected.map(([name, value]) => [name, typeof value === "string" ? value : value.values({ comments })]),
    );
  }
}

function plain(value: string | IniSection): Value {
  return typeof value === "string" ? value : value.values({ comments: true });
}
