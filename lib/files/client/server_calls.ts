/**
 * The commands of a file server, with their answers checked: those of a master, or of this host's own file server.
 * Source: `salt/fileclient.py` RemoteClient; the replies of masters of Salt 3006 to 3008.
 * @module
 */

import type { FileHash } from "./file_client.ts";
import { WireError } from "#lib/errors.ts";
import { gunzip } from "#lib/values/gzip.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, toNumber, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** Sends a command to the file server. */
export type SendFileCommand = (load: ValueMap) => Promise<Value>;

/** What the file server answers to a request for a part of a file. */
export interface FileReplyPiece {
  /** Empty at the end of the file, and if there is no such file. */
  readonly data: Uint8Array;
  /** The path in the environment; empty if there is no such file. */
  readonly dest: string;
}

/** Largest piece that is accepted, unpacked: masters send one mebibyte unless `file_buffer_size` says otherwise. */
const MAX_BYTES = 64 * 2 ** 20;

/** The lists of a file server. */
const LISTS = { files: "_file_list", dirs: "_dir_list", emptyDirs: "_file_list_emptydirs" } as const;

/** The commands of one file server. */
export class ServerCalls {
  readonly #request: SendFileCommand;

  constructor(request: SendFileCommand) {
    this.#request = request;
  }

  /** Files or directories that begin with `prefix`. */
  async list(kind: keyof typeof LISTS, saltenv: string, prefix: string): Promise<string[]> {
    return texts(await this.#send(LISTS[kind], { saltenv, prefix }), LISTS[kind]);
  }

  /** The text of each link by its path. */
  async symlinks(saltenv: string, prefix: string): Promise<Map<string, string>> {
    const reply = await this.#send("_symlink_list", { saltenv, prefix });
    if (!isMap(reply)) throw unexpectedReply("_symlink_list", reply);
    return new Map([...reply].map(([path, target]) => [text(path), text(target)]));
  }

  async envs(): Promise<string[]> {
    return texts(await this.#send("_file_envs", {}), "_file_envs");
  }

  /** The digest of a file; `undefined` if there is no such file. */
  async hash(path: string, saltenv: string): Promise<FileHash | undefined> {
    const reply = await this.#send("_file_hash", { path, saltenv });
    if (!isMap(reply)) return undefined;
    const [hashType, hsum] = [reply.get("hash_type") ?? "sha256", reply.get("hsum")];
    if (hsum === undefined) return undefined;
    if (typeof hashType !== "string" || typeof hsum !== "string") throw unexpectedReply("_file_hash", reply);
    return { hashType, hsum };
  }

  /** Where a file is on the file server's host; `undefined` if there is no such file. */
  async place(path: string, saltenv: string): Promise<string | undefined> {
    const reply = await this.#send("_file_find", { path, saltenv });
    const place = isMap(reply) ? reply.get("path") : undefined;
    return typeof place === "string" && place !== "" ? place : undefined;
  }

  /** The mode of a file; `undefined` if there is no such file. */
  async mode(path: string, saltenv: string): Promise<number | undefined> {
    const reply = await this.#send("_file_find", { path, saltenv });
    const stat = isMap(reply) ? reply.get("stat") : undefined;
    return Array.isArray(stat) ? toNumber(stat[0]) : undefined;
  }

  /**
   * The piece of a file at byte `loc`.
   * @param gzip 1 to 9: it is sent compressed.
   */
  async serve(
    path: string,
    { saltenv, loc, gzip }: { saltenv: string; loc: number; gzip?: number },
  ): Promise<FileReplyPiece> {
    const reply = await this.#send("_serve_file", { path, saltenv, loc, ...gzip && { gzip } });
    if (!isMap(reply)) throw unexpectedReply("_serve_file", reply);
    const [data, dest] = [reply.get("data") ?? "", reply.get("dest") ?? ""];
    if (typeof dest !== "string" || (typeof data !== "string" && !(data instanceof Uint8Array))) {
      throw unexpectedReply("_serve_file", reply);
    }
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
    const packed = bytes.length > 0 && reply.has("gzip");
    return { data: packed ? await gunzip(bytes, { max: MAX_BYTES }) : bytes, dest };
  }

  /** The master's options that states need. */
  async masterOpts(): Promise<ValueMap> {
    const reply = await this.#send("_master_opts", {});
    if (!isMap(reply)) throw unexpectedReply("_master_opts", reply);
    return reply;
  }

  /**
   * The result of `master_tops` for a minion.
   * @param opts Its options and grains, for the master's plugins.
   */
  async masterTops(id: string, opts: ValueMap): Promise<ValueMap> {
    return mapOrEmpty(await this.#send("_master_tops", { id, opts }));
  }

  /**
   * Sends a piece of a file to the master.
   * @returns Whether the master accepted it.
   */
  async push(load: Readonly<Record<string, Value>>): Promise<boolean> {
    return await this.#send("_file_recv", load) === true;
  }

  #send(cmd: string, load: Readonly<Record<string, Value>>): Promise<Value> {
    return this.#request(map({ ...load, cmd }));
  }
}

function texts(reply: Value, command: string): string[] {
  if (!Array.isArray(reply)) throw unexpectedReply(command, reply);
  return reply.map(text);
}

/** A name of a file; one that is not UTF-8 comes as bytes. */
function text(name: Value): string {
  if (typeof name === "string") return name;
  if (name instanceof Uint8Array) return new TextDecoder().decode(name);
  throw new WireError(`A name of the file server is no text but ${typeName(name)}`);
}

function unexpectedReply(command: string, reply: Value): WireError {
  return new WireError(`The file server answered ${command} with ${typeName(reply)}`);
}
