/**
 * Calls of execution modules in a directory of files, with the results of Python Salt: the cases of
 * `corpus/file_calls.json`. Each case runs in its own directory.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { dumpJson } from "#lib/values/json.ts";
import { compare, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { testContext, testOpts } from "./job_context.ts";

/** Placeholder for the directory of a case. */
export const ROOT = "{ROOT}";

/** The result of a case, Python Salt's and ours, as text: so a reader can compare them. */
export interface Compared {
  readonly expected: string;
  readonly actual: string;
}

/** `value` with `from` replaced by `to` in all strings, keys included. */
export function replaceIn(value: Value, from: string, to: string): Value {
  if (typeof value === "string") return value.replaceAll(from, to);
  if (value instanceof Uint8Array) return new Map([["__bytes__", value.toHex()]]);
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, from, to));
  if (!isMap(value)) return value;
  return new Map([...value].map(([key, item]) => [replaceIn(key, from, to), replaceIn(item, from, to)]));
}

/** Restores maps whose keys are not strings, which JSON cannot hold. */
export function unpack(value: Value): Value {
  if (Array.isArray(value)) return value.map(unpack);
  if (!isMap(value)) return value;
  const pairs = value.get("__pairs__");
  if (!Array.isArray(pairs)) return new Map([...value].map(([key, item]) => [key, unpack(item)]));
  return new Map(pairs.map((pair): [Value, Value] => Array.isArray(pair) ? [pair[0], unpack(pair[1])] : [null, null]));
}

/** `value` without these keys, at every depth of nested maps. */
export function without(value: Value, keys: readonly Value[]): Value {
  if (!isMap(value)) return value;
  return new Map([...value].filter(([key]) => !keys.includes(key)).map(([key, item]) => [key, without(item, keys)]));
}

/** The map at `key`; empty if there is none. */
export function mapAt(entry: ValueMap, key: string): ValueMap {
  const value = entry.get(key);
  return isMap(value) ? value : new Map();
}

/** The list at `key`; empty if there is none. */
export function listAt(entry: ValueMap, key: string): Value[] {
  const value = entry.get(key);
  return Array.isArray(value) ? value : [];
}

/** Creates the files of a tree (a map from names to contents) in `root`. */
export async function build(root: string, tree: ValueMap): Promise<void> {
  for (const [name, what] of tree) {
    const path = `${root}/${str(name)}`;
    const file = isMap(what) ? what : new Map<Value, Value>([["text", what]]);
    const link = file.get("link"), hex = file.get("hex"), mode = file.get("mode");
    if (file.has("dir")) {
      await Deno.mkdir(path);
      await build(path, mapAt(file, "dir"));
    } else if (typeof link === "string") {
      await Deno.symlink(link, path);
    } else {
      const data = typeof hex === "string"
        ? Uint8Array.fromHex(hex)
        : new TextEncoder().encode(str(file.get("text") ?? ""));
      await Deno.writeFile(path, data);
    }
    if (typeof mode === "string") await Deno.chmod(path, parseInt(mode, 8));
    else if (typeof link !== "string") await Deno.chmod(path, file.has("dir") ? 0o755 : 0o644);
  }
}

/** What {@linkcode snapshot} includes besides modes and contents. */
export interface SnapshotOptions {
  /** Whether owners other than root, and link counts other than 1, are included. */
  readonly owners?: boolean;
}

/** A directory as a tree. */
export function snapshot(root: string, options: SnapshotOptions = {}): ValueMap {
  const tree: ValueMap = new Map();
  const names = [...Deno.readDirSync(root)].map(({ name }) => name).sort(compare);
  for (const name of names) {
    const path = `${root}/${name}`;
    const info = Deno.lstatSync(path);
    const mode = ((info.mode ?? 0) & 0o7777).toString(8).padStart(4, "0");
    const what: ValueMap = info.isSymlink
      ? new Map([["link", Deno.readLinkSync(path)]])
      : info.isDirectory
      ? new Map<Value, Value>([["dir", snapshot(path, options)], ...modeOf(mode, "0755")])
      : info.isFile
      ? new Map([contents(Deno.readFileSync(path)), ...modeOf(mode, "0644")])
      : new Map([["special", mode]]);
    if (options.owners && info.isFile && info.nlink !== 1) what.set("names", info.nlink);
    if (options.owners && (info.uid !== 0 || info.gid !== 0)) what.set("owner", `${info.uid}:${info.gid}`);
    tree.set(name, what.size === 1 && what.has("text") ? what.get("text") ?? "" : what);
  }
  return tree;
}

function modeOf(mode: string, usual: string): [string, string][] {
  return mode === usual ? [] : [["mode", mode]];
}

function contents(data: Uint8Array): [string, string] {
  try {
    return ["text", new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data)];
  } catch {
    return ["hex", data.toHex()];
  }
}

const GRAINS: ValueMap = new Map([["id", "web1"], ["kernel", "Linux"], ["os_family", "Debian"], ["os", "Debian"]]);

/** Runs a case in its own directory. */
export async function compareCase(entry: ValueMap): Promise<Compared> {
  const root = await Deno.makeTempDir({ prefix: "calls_" });
  const home = await Deno.makeTempDir({ prefix: "minion_" });
  try {
    await build(root, mapAt(new Map([["tree", replaceIn(entry.get("tree") ?? null, ROOT, root)]]), "tree"));
    const before = snapshot(root);
    const drop = listAt(entry, "drop"), sorted = entry.get("sort") === true;
    const ours: ValueMap = new Map();
    const context = testContext({
      grains: GRAINS,
      opts: { ...testOpts({ file_client: "local", root_dir: home }), extra: new Map([["hosts.file", `${root}/h`]]) },
    });
    try {
      const args = replaceIn(listAt(entry, "args"), ROOT, root), kwargs = replaceIn(mapAt(entry, "kwargs"), ROOT, root);
      const result = await context.call(
        str(entry.get("fun") ?? ""),
        Array.isArray(args) ? args : [],
        isMap(kwargs) ? kwargs : new Map(),
      );
      const shown = sorted && Array.isArray(result) ? result.toSorted(compare) : result;
      ours.set("return", without(replaceIn(shown, root, ROOT), drop));
    } catch (error) {
      const own = error instanceof CommandError || error instanceof InvocationError;
      ours.set("error", own ? replaceIn(error.message, root, ROOT) : "");
    }
    const [was, is] = [before, snapshot(root)].map((tree) => dumpJson(tree));
    if (was !== is) ours.set("after", replaceIn(snapshot(root), root, ROOT));
    const python = new Map(
      ["return", "error", "after"].filter((key) => entry.has(key)).map((
        key,
      ): [Value, Value] => [key, unpack(entry.get(key) ?? null)]),
    );
    // Python Salt shows other errors than its own as stack traces; ours have a message.
    if (python.get("error") === "" && typeof ours.get("error") === "string") ours.set("error", "");
    return { expected: shownText(python), actual: shownText(ours) };
  } finally {
    await Deno.remove(root, { recursive: true });
    await Deno.remove(home, { recursive: true });
  }
}

function shownText(value: ValueMap): string {
  return dumpJson(value);
}
