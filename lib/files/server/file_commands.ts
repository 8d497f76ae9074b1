/**
 * The commands of minions for files: they take a load and return Salt's reply. A master answers its minions by them,
 * and a minion without a master itself.
 *
 * Salt answers `""` if a load makes one of its functions fail: `path: 5`, `loc: -1`, `gzip: 99`. So does this,
 * without a log entry: any minion with an accepted key may send such loads. Source: docs/protocol.md "Files";
 * Salt 3008.3 `salt/fileserver/__init__.py` Fileserver.
 * @module
 */

import { gzip as compress } from "#lib/values/gzip.ts";
import { isInt, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { FileListOptions, FileServer, ServedFile, ServedFileHash } from "./file_server.ts";

/** The answer to an invalid load. */
const UNUSABLE = "";

type FileCommand = (server: FileServer, load: ValueMap) => Promise<Value>;

/** The commands, by name. */
export const FILE_COMMANDS: Readonly<Record<string, FileCommand>> = {
  _file_envs: fileEnvs,
  _file_list: (server, load) => listPaths(load, [], (saltenv, options) => server.fileList(saltenv, options)),
  _file_list_emptydirs: (server, load) => listPaths(load, [], (saltenv, options) => server.emptyDirs(saltenv, options)),
  _dir_list: (server, load) => listPaths(load, [], (saltenv, options) => server.dirList(saltenv, options)),
  _symlink_list: (server, load) =>
    listPaths(load, new Map(), async (saltenv, options) => new Map(await server.symlinkList(saltenv, options))),
  _file_find: findFile,
  _file_hash: async (server, load) => (await hashOf(server, load))?.hash ?? "",
  async _file_hash_and_stat(server, load) {
    const hash = await hashOf(server, load);
    return hash === undefined ? ["", null] : [hash.hash, hash.stat];
  },
  _serve_file: serveFile,
};

/** Salt's answer to a command for files; `undefined` if `load` has none of them. */
export async function fileCommand(server: FileServer, load: ValueMap): Promise<Value | undefined> {
  const cmd = load.get("cmd");
  const name = typeof cmd === "string" ? cmd.startsWith("_") ? cmd : `_${cmd}` : "";
  return Object.hasOwn(FILE_COMMANDS, name) ? await FILE_COMMANDS[name](server, load) : undefined;
}

async function fileEnvs(server: FileServer, load: ValueMap): Promise<Value> {
  const back = backends(load.get("back"));
  if (!truthy(load.get("sources"))) return await server.envs(back);
  return new Map([...await server.envsByBackend(back)].map(([name, envs]): [Value, Value] => [name, [...envs]]));
}

/** The list that a load asks for; `none` without an environment. */
async function listPaths(
  load: ValueMap,
  none: Value,
  list: (saltenv: string, options: FileListOptions) => Promise<Value>,
): Promise<Value> {
  const saltenv = load.get("saltenv");
  if (saltenv === undefined) return none;
  const prefix = load.get("prefix") ?? (load.has("prefix") ? null : "");
  if (typeof prefix !== "string") return UNUSABLE;
  return await list(str(saltenv), { prefix, backend: backends(load.get("fsbackend")) });
}

async function findFile(server: FileServer, load: ValueMap): Promise<Value> {
  const path = load.get("path");
  if (!truthy(path)) return map({ path: "", rel: "" });
  const saltenv = load.has("saltenv") ? load.get("saltenv") : "base";
  if (typeof path !== "string" || typeof saltenv !== "string") return UNUSABLE;
  const file = await server.findFile(path, saltenv);
  return file === undefined ? map({ path: "", rel: "" }) : foundMap(file);
}

function foundMap({ path, rel, stat, back }: ServedFile): ValueMap {
  return map({ path, rel, stat: [...stat], back });
}

async function hashOf(
  server: FileServer,
  load: ValueMap,
): Promise<{ readonly hash: ValueMap; readonly stat: Value[] } | undefined> {
  const path = load.get("path"), saltenv = load.get("saltenv");
  if (typeof path !== "string" || saltenv === undefined) return undefined;
  const hash = await server.hashAndStat(path, str(saltenv));
  return hash === undefined ? undefined : { hash: hashMap(hash.hash), stat: [...hash.stat] };
}

function hashMap({ hash_type, hsum }: ServedFileHash): ValueMap {
  return map({ hash_type, hsum });
}

async function serveFile(server: FileServer, load: ValueMap): Promise<Value> {
  const [path, loc, saltenv] = ["path", "loc", "saltenv"].map((name) => load.get(name));
  if (path === undefined || loc === undefined || saltenv === undefined) return map({ data: "", dest: "" });
  if (typeof path !== "string") return UNUSABLE;
  const at = offset(loc), gzip = load.get("gzip");
  // Salt looks for the file before it checks the offset.
  const { data, dest } = await server.serveFile({ path, saltenv: str(saltenv), loc: at ?? Infinity });
  if (dest !== "" && at === undefined) return UNUSABLE;
  if (data.length === 0) return map({ data: "", dest });
  if (!truthy(gzip)) return new Map<Value, Value>([["data", data], ["dest", dest]]);
  if (!isLevel(gzip)) return UNUSABLE;
  return new Map<Value, Value>([["data", await compress(data)], ["dest", dest], ["gzip", gzip]]);
}

/** Whether zlib has this level of compression. One level is used for all: readers see no difference. */
function isLevel(level: Value | undefined): level is Value {
  if (typeof level === "boolean") return true;
  const n = toNumber(level);
  return isInt(level ?? null) && n !== undefined && n >= -1 && n <= 9;
}

/** The largest file offset. */
const MAX_OFFSET = 2 ** 63;

/** The offset to read at; `undefined` if no file can be read there. */
function offset(loc: Value): number | undefined {
  if (typeof loc !== "boolean" && !isInt(loc)) return undefined;
  const at = toNumber(loc);
  return at === undefined || at < 0 || at >= MAX_OFFSET ? undefined : at;
}

/** The names of backends in a load. */
function backends(value: Value | undefined): string | string[] | undefined {
  if (!truthy(value) || value === undefined) return undefined;
  return Array.isArray(value) ? value.map(str) : str(value);
}
