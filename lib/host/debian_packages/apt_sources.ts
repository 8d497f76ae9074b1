/**
 * The sources of apt: `sources.list`, and the files of one-line (`.list`) and of deb822 (`.sources`) entries in
 * `sources.list.d`. Reads and writes their text; knows no repository. Source: sources.list(5); Salt 3008.3,
 * `salt/utils/pkg/deb.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { InvocationError } from "#lib/errors.ts";
import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** One entry. Fields may be changed; {@linkcode AptSourceFiles.save} writes them. */
export interface AptSource {
  /** The file that it is in. */
  file: string;
  disabled: boolean;
  /** `deb`, `deb-src`; a deb822 entry may have both. */
  types: string[];
  uris: string[];
  suites: string[];
  /** Components. */
  comps: string[];
  architectures: string[];
  /** The file or the fingerprints of the key; empty: any trusted key. */
  signedby: string;
  /** Whether its signature need not be checked; `null` if it has no such option. */
  trusted: boolean | null;
  comment: string;
  /** Other options, `name=value` on a line, or `Name: value` in a paragraph. */
  readonly options: Map<string, string>;
  /** The text in the file, and the text that this program would write for it. */
  readonly read?: { readonly text: string; readonly ours: string };
}

/** A part of a file: an entry, or other text, which is never changed. */
type Part = { readonly source: AptSource } | { readonly text: string };

const TYPES = ["deb", "deb-src", "rpm", "rpm-src"];
const MAIN = "/etc/apt/sources.list";
const PARTS = "/etc/apt/sources.list.d";

/**
 * Reads one line; `undefined` if it is not an entry.
 * @throws {InvocationError} If it begins as one and has no suite.
 */
export function parseSourceLine(line: string, file: string = MAIN): AptSource | undefined {
  let text = line.trim();
  const disabled = text.startsWith("#");
  if (disabled) text = text.slice(1).trim();
  const hash = text.indexOf("#");
  const comment = hash > 0 ? text.slice(hash + 1) : "";
  if (hash > 0) text = text.slice(0, hash).trim();
  const [, type, bracket, rest] = /^(\S+)\s+(?:\[([^\]]*)\]\s*)?(.*)$/.exec(text) ?? [];
  // Options whose bracket is not closed are no URI.
  if (type === undefined || !TYPES.includes(type) || rest.startsWith("[")) return undefined;
  const cdrom = /^(cdrom:\S*\[.*?\]\S*|cdrom:.*?\/)\s+(.*)$/.exec(rest);
  const [uri, suite, ...comps] = cdrom === null ? rest.split(/\s+/) : [cdrom[1], ...cdrom[2].split(/\s+/)];
  if (suite === undefined || suite === "") {
    if (bracket === undefined) return undefined;
    throw new InvocationError(`Invalid repository definition: ${text}`);
  }
  const options = new Map<string, string>();
  for (const option of (bracket ?? "").split(/\s+/)) {
    const equals = option.indexOf("=");
    if (equals > 0) options.set(option.slice(0, equals), option.slice(equals + 1));
  }
  const trusted = options.get("trusted");
  return {
    file,
    disabled,
    types: [type],
    uris: [uri],
    suites: [suite],
    comps,
    architectures: options.get("arch")?.split(",") ?? [],
    signedby: options.get("signed-by") ?? "",
    trusted: trusted === undefined ? null : isYes(trusted),
    comment,
    options,
  };
}

/** The entry as one line, without a newline. */
export function sourceLine(source: AptSource): string {
  const options = new Map(source.options);
  if (source.architectures.length > 0) options.set("arch", source.architectures.join(","));
  if (source.signedby !== "") options.set("signed-by", source.signedby);
  if (source.trusted === true) options.set("trusted", "yes");
  else options.delete("trusted");
  const optionText = [...options].map(([name, value]) => `${name}=${value}`).join(" ");
  const words = [
    ...source.disabled ? ["#"] : [],
    source.types[0] ?? "deb",
    ...optionText === "" ? [] : [`[${optionText}]`],
    source.uris[0] ?? "",
    source.suites[0] ?? "",
    source.comps.join(" "),
    ...source.comment === "" ? [] : [`#${source.comment}`],
  ];
  return words.join(" ").trim();
}

/** The fields of deb822 that are fields of a {@linkcode AptSource}. */
const FIELDS = ["types", "uris", "suites", "components", "architectures", "signed-by", "trusted", "enabled"];

/** Reads one paragraph; `undefined` if it has no fields. */
function parseSourceParagraph(paragraph: string, file: string): AptSource | undefined {
  const fields = new Map<string, string>();
  const comments: string[] = [];
  let last: string | undefined;
  for (const line of paragraph.split("\n")) {
    const [, name, value] = /^([^\s:#]+):\s*(.*)$/.exec(line) ?? [];
    if (line.startsWith("#")) comments.push(line);
    else if (name !== undefined) fields.set(last = name, value);
    else if (last !== undefined && line !== "") fields.set(last, `${fields.get(last)}\n${line}`);
  }
  if (fields.size === 0) return undefined;
  const byName = new Map([...fields].map(([name, value]) => [name.toLowerCase(), value.trim()]));
  const words = (name: string) => byName.get(name)?.split(/\s+/).filter((word) => word !== "") ?? [];
  const [trusted, enabled] = [byName.get("trusted"), byName.get("enabled")];
  return {
    file,
    disabled: enabled !== undefined && !isYes(enabled),
    types: words("types"),
    uris: words("uris"),
    suites: words("suites"),
    comps: words("components"),
    architectures: words("architectures"),
    signedby: byName.get("signed-by") ?? "",
    trusted: trusted === undefined ? null : isYes(trusted),
    comment: comments.join("\n"),
    options: new Map([...fields].filter(([name]) => !FIELDS.includes(name.toLowerCase()))),
  };
}

/** The entry as a paragraph of deb822, without an empty line after it. */
function sourceParagraph(source: AptSource): string {
  const fields: [string, string][] = [
    ["Enabled", source.disabled ? "no" : ""],
    ["Types", source.types.join(" ")],
    ["URIs", source.uris.join(" ")],
    ["Suites", source.suites.join(" ")],
    ["Components", source.comps.join(" ")],
    ["Architectures", source.architectures.join(" ")],
    ["Signed-By", source.signedby],
    ["Trusted", source.trusted === null ? "" : source.trusted ? "yes" : "no"],
    ...source.options,
  ];
  const comment = source.comment === ""
    ? []
    : source.comment.split("\n").map((one) => one.startsWith("#") ? one : `#${one}`);
  const set = fields.filter(([, value]) => value !== "");
  return [...comment, ...set.map(([name, value]) => `${name}:${value.startsWith("\n") ? "" : " "}${value}`)].join("\n");
}

function isYes(text: string): boolean {
  return ["yes", "true", "with", "on", "enable", "1"].includes(text.toLowerCase());
}

/** All sources of a host. */
export class AptSourceFiles {
  readonly #root: string;
  readonly #files = new Map<string, Part[]>();

  /**
   * Reads them.
   * @param root The directory that contains `/etc`.
   */
  constructor(root = "/") {
    this.#root = rstripChars(root, "/");
    this.#read(MAIN);
    for (const name of this.#parts()) this.#read(`${PARTS}/${name}`);
  }

  /** The entries, in the order in which they were read. */
  get sources(): AptSource[] {
    return [...this.#files.values()].flat().flatMap((part) => "source" in part ? [part.source] : []);
  }

  /** Puts an entry at the end of its file. */
  add(source: AptSource): void {
    const parts = this.#files.get(source.file);
    if (parts === undefined) this.#files.set(source.file, [{ source }]);
    else parts.push({ source });
  }

  /** Removes an entry from its file. */
  remove(source: AptSource): void {
    for (const [file, parts] of this.#files) {
      this.#files.set(file, parts.filter((part) => !("source" in part) || part.source !== source));
    }
  }

  /**
   * Writes the changed files.
   * @returns Files below `sources.list.d` that had only these entries, removed.
   */
  save(): string[] {
    const removed: string[] = [];
    for (const [file, parts] of this.#files) {
      const path = this.#root + file;
      const isEmpty = parts.every((part) => "text" in part && part.text.trim() === "");
      if (isEmpty && file.startsWith(`${PARTS}/`)) {
        if (removeIfExists(path)) removed.push(file);
        continue;
      }
      const text = file.endsWith(".sources") ? paragraphs(parts) : lines(parts);
      if (text !== readTextFileIfExists(path)) writeFileAtomic(path, text, { mode: 0o644 });
    }
    return removed;
  }

  #parts(): string[] {
    try {
      const names = [...Deno.readDirSync(this.#root + PARTS)].filter(({ isDirectory }) => !isDirectory);
      return names.map(({ name }) => name).filter((name) => /\.(list|sources)$/.test(name)).sort();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  }

  #read(file: string): void {
    const text = readTextFileIfExists(this.#root + file);
    if (text === undefined) return;
    const isParagraphs = file.endsWith(".sources");
    const pieces = isParagraphs ? text.split(/\n[ \t]*\n/) : text.replace(/\n$/, "").split("\n");
    this.#files.set(
      file,
      pieces.filter((piece) => !isParagraphs || piece.trim() !== "").map((piece): Part => {
        const source = isParagraphs ? parseSourceParagraph(piece, file) : parsedLine(piece, file);
        if (source === undefined) return { text: piece };
        return { source: { ...source, read: { text: piece, ours: formatSource(source) } } };
      }),
    );
  }
}

/** A line that apt could not read stays as it is. */
function parsedLine(line: string, file: string): AptSource | undefined {
  try {
    return parseSourceLine(line, file);
  } catch (error) {
    if (error instanceof InvocationError) return undefined;
    throw error;
  }
}

function formatSource(source: AptSource): string {
  return source.file.endsWith(".sources") ? sourceParagraph(source) : sourceLine(source);
}

/** The text of an unchanged entry is not changed. */
function partText(part: Part): string {
  if ("text" in part) return part.text;
  const ours = formatSource(part.source);
  return part.source.read?.ours === ours ? part.source.read.text : ours;
}

function lines(parts: readonly Part[]): string {
  return parts.map((part) => `${partText(part)}\n`).join("");
}

function paragraphs(parts: readonly Part[]): string {
  return parts.map((part) => `${partText(part).trim()}\n`).join("\n");
}

/** The entries as `pkg.list_repos` shows them: one for each type, address and suite. */
export function shownSources(source: AptSource): ValueMap[] {
  const isParagraph = source.file.endsWith(".sources");
  return source.uris.flatMap((uri) =>
    source.suites.flatMap((dist) =>
      source.types.map((type) => {
        // A paragraph's other fields have no place on a line.
        const alone = { ...source, types: [type], uris: [uri], suites: [dist], comment: "", options: new Map() };
        return map({
          file: source.file,
          comps: source.comps,
          disabled: source.disabled,
          enabled: !source.disabled,
          dist,
          suites: source.suites,
          type,
          types: source.types,
          uri,
          uris: source.uris,
          line: isParagraph ? sourceLine(alone) : source.read?.text.trim() ?? sourceLine(source),
          architectures: source.architectures,
          signedby: isParagraph && source.signedby === "" ? null : source.signedby,
        });
      })
    )
  );
}
