/**
 * The map of the reactor: which files react to events of which tags. Source: Salt 3008.3 `salt/utils/reactor.py`
 * list_reactors.
 * @module
 */

import { type ConfigFiles, findEntry } from "#lib/config/entry_places.ts";
import { messageOf, YamlError } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { loadYamlPlaces } from "#lib/yaml/load.ts";

/** One entry of the map. */
export interface MapEntry {
  /** The glob of tags. */
  readonly tag: string;
  /** The files: paths, globs of paths, `salt://` and a path. */
  readonly files: readonly string[];
}

/** A mistake of a map or of a file. */
export interface ReactorMistake {
  /** The file; empty for the configuration. */
  readonly file: string;
  /** The line in the file, from 1, if it is known. */
  readonly line?: number;
  readonly text: string;
}

/** A map that was read. */
export interface ReactorMap {
  readonly entries: readonly MapEntry[];
  /** The entries that are left out. The others work. */
  readonly mistakes: readonly ReactorMistake[];
}

/** Where an entry is written: a file, empty for the configuration, and a line of it if it is known. */
type MistakePlace = Pick<ReactorMistake, "file" | "line">;

/**
 * Reads the option `reactor`.
 * @param option A list of maps, or the path of a YAML file with one.
 * @param files Where the configuration is, for the places of mistakes.
 */
export function readReactorMap(option: Value, files?: ConfigFiles): ReactorMap {
  if (typeof option === "string") return option === "" ? NOTHING : readMapFile(option);
  return readEntries(option, (key) => (files && findEntry(files, "reactor", key)) ?? { file: "" }, "entry ");
}

const NOTHING: ReactorMap = { entries: [], mistakes: [] };

function readMapFile(path: string): ReactorMap {
  const failed = (text: string, line?: number): ReactorMap => ({
    entries: [],
    mistakes: [{ file: path, text, ...line !== undefined && { line } }],
  });
  try {
    const text = readTextFileIfExists(path);
    if (text === undefined) return failed("the file of the reactor map does not exist");
    const { value, places } = loadYamlPlaces(text, path);
    return readEntries(value, (key) => {
      const line = Array.isArray(value) && key !== "" ? places.of(value, key)?.line : undefined;
      return { file: path, ...line !== undefined && { line } };
    });
  } catch (error) {
    if (error instanceof YamlError) return failed(error.problem, error.line);
    return failed(messageOf(error));
  }
}

/**
 * @param placeOf The place of an entry by its index; for `""` that of the whole map.
 * @param words What stands before the number of an entry in a mistake; absent: no number.
 */
function readEntries(value: Value, placeOf: (key: number | "") => MistakePlace, words?: string): ReactorMap {
  if (value === null) return NOTHING;
  if (!Array.isArray(value)) {
    return { entries: [], mistakes: [{ ...placeOf(""), text: `the reactor map is no list: ${truncateRepr(value)}` }] };
  }
  const entries: MapEntry[] = [], mistakes: ReactorMistake[] = [];
  value.forEach((item, index) => {
    const entry = readEntry(item);
    if (typeof entry === "string") {
      const which = words === undefined ? "" : `${words}${index + 1}: `;
      mistakes.push({ ...placeOf(index), text: `${which}${entry}` });
    } else entries.push(entry);
  });
  return { entries, mistakes };
}

/** The entry, or what is wrong with it. */
function readEntry(item: Value): MapEntry | string {
  if (!isMap(item)) return `it is no map of a tag and its files: ${truncateRepr(item)}`;
  if (item.size !== 1) return `it has ${item.size} tags, where one is meant: ${truncateRepr(item)}`;
  const [[tag, files]] = item;
  if (typeof tag !== "string") return `the tag ${truncateRepr(tag)} is no text`;
  if (typeof files === "string") return { tag, files: [files] };
  if (Array.isArray(files) && files.every((file) => typeof file === "string")) return { tag, files: files.map(String) };
  return `the files of ${tag} are neither a path nor a list of paths: ${truncateRepr(files)}`;
}

/** Most tags whose files are remembered. */
const MAX_TAGS = 5_000;

/** Finds the files of tags, in the order of the map. */
export class MapMatcher {
  readonly #entries: readonly { readonly matches: (tag: string) => boolean; readonly files: readonly string[] }[];
  readonly #known = new Map<string, readonly string[]>();

  constructor(entries: readonly MapEntry[]) {
    this.#entries = entries.map(({ tag, files }) => ({ matches: compileGlob(tag), files }));
  }

  /** The files that react to a tag. */
  filesFor(tag: string): readonly string[] {
    const known = this.#known.get(tag);
    if (known !== undefined) return known;
    const files = this.#entries.flatMap(({ matches, files }) => matches(tag) ? files : []);
    if (this.#known.size >= MAX_TAGS) this.#known.clear();
    this.#known.set(tag, files);
    return files;
  }
}
