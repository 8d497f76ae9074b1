/**
 * A scripted file server in memory: Salt's commands, and a hook before each answer.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { type FileClientSettings, openFileClient } from "#lib/files/client/client.ts";
import type { FileClient } from "#lib/files/client/file_client.ts";
import { gzip } from "#lib/values/gzip.ts";
import { map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** A file server. */
export class ScriptedFileServer {
  /** File contents by environment and path. */
  readonly files: Record<string, Record<string, string>>;
  /** The requests, such as `_serve_file a.txt 4`. */
  readonly requestLog: string[] = [];
  /** The size of a chunk in bytes. */
  piece = 4;
  /**
   * Called before each answer; its error is thrown to the client.
   * @returns An answer that replaces the real one.
   */
  before: (request: string, load: ValueMap) => Value | void = () => {};

  constructor(files: Record<string, Record<string, string>>) {
    this.files = files;
  }

  /** The requests since the last call of this method. */
  requests(): string[] {
    return this.requestLog.splice(0);
  }

  /** Answers a command. */
  readonly request = async (load: ValueMap): Promise<Value> => {
    const field = (name: string) => str(load.get(name) ?? "");
    const [cmd, path] = [field("cmd"), field("path").replace(/^\|/, "")];
    const request = [cmd, path, ...load.has("loc") ? [field("loc")] : []].join(" ").trim();
    this.requestLog.push(request);
    const instead = this.before(request, load);
    if (instead !== undefined) return instead;
    const files = this.files[field("saltenv")] ?? {};
    const text = files[path];
    switch (cmd) {
      case "_file_hash":
        return text === undefined ? "" : map({ hash_type: "sha256", hsum: hashHex(text, "sha256") });
      case "_file_find":
        return text === undefined ? map({ path: "", rel: "" }) : map({ path, rel: path, stat: [0o100640] });
      case "_file_list":
        return Object.keys(files).filter((name) => name.startsWith(field("prefix"))).sort();
      case "_dir_list":
        return ["sub", "sub/empty"];
      case "_file_list_emptydirs":
        return ["sub/empty"];
      case "_file_envs":
        return Object.keys(this.files);
      case "_serve_file":
        return await this.#serve(text, path, load);
      default:
        return null;
    }
  };

  async #serve(text: string | undefined, dest: string, load: ValueMap): Promise<Value> {
    if (text === undefined) return map({ data: "", dest: "" });
    const loc = toNumber(load.get("loc")) ?? 0;
    const data = new TextEncoder().encode(text).slice(loc, loc + this.piece);
    if (data.length === 0 || !load.has("gzip")) return map({ data, dest });
    return map({ data: await gzip(data), dest, gzip: load.get("gzip") ?? null });
  }
}

/**
 * A file client of the server, with its cache in `<root>/cache`.
 * @param settings Those that are others than here.
 */
export function clientOf(
  root: string,
  server: ScriptedFileServer,
  settings: Partial<FileClientSettings> = {},
): FileClient {
  return openFileClient({
    cachedir: `${root}/cache`,
    hashType: "sha256",
    id: "web1",
    request: server.request,
    signal: new AbortController().signal,
    pauseMs: 1,
    log: () => {},
    ...settings,
  });
}
