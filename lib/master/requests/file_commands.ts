/**
 * The commands of minions that fetch and push files. The first one loads the file server. While the disk is read, the
 * thread takes other requests. Source: docs/protocol.md "Files"; Salt 3008.3 `salt/master.py` _file_recv.
 * @module
 */

import type { MinionCommands, Needs } from "./services.ts";
import { isInt, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** The commands, by name. */
export const FILE_COMMANDS: MinionCommands<"files" | "opts" | "warn" | "park"> = {
  _file_envs: answerFor,
  _file_list: answerFor,
  _file_list_emptydirs: answerFor,
  _dir_list: answerFor,
  _symlink_list: answerFor,
  _file_find: answerFor,
  _file_hash: answerFor,
  _file_hash_and_stat: answerFor,
  _serve_file: answerFor,
  _file_recv: receiveFile,
};

async function answerFor(load: ValueMap, _id: string, { files, park }: Needs<"files" | "park">): Promise<Value> {
  park();
  return await files.answer(load);
}

const MIB = 1 << 20;

async function receiveFile(load: ValueMap, id: string, services: Needs<"opts" | "warn" | "park">): Promise<Value> {
  const { opts, warn, park } = services;
  const path = load.get("path"), loc = load.get("loc"), data = bytesOf(load.get("data"));
  if (!Array.isArray(path) || loc === undefined || !opts.file_recv) return false;
  // Salt's functions fail with these, and then it answers so.
  if (!isInt(loc) || data === undefined || !path.every((part) => typeof part === "string")) return "";
  const at = toNumber(loc) ?? 0;
  if (at < 0) return false;
  if (at + data.length > opts.file_recv_max_size * MIB) {
    warn(
      `A file that minion ${id} pushes is refused: it is larger than file_recv_max_size (${opts.file_recv_max_size} MiB)`,
    );
    return false;
  }
  park();
  const { receivePiece } = await import("#lib/files/backends/received_files.ts");
  const size = load.get("size");
  const stored = await receivePiece({ cachedir: opts.cachedir, id }, {
    path: path.join("/"),
    loc: at,
    data,
    size: isInt(size ?? null) ? toNumber(size) : undefined,
  });
  if (!stored) {
    warn(`A piece of a file that minion ${id} pushes is refused: its path or its offset is invalid`);
  }
  return stored;
}

function bytesOf(data: Value | undefined): Uint8Array | undefined {
  if (typeof data === "string") return new TextEncoder().encode(data);
  return data instanceof Uint8Array ? data : undefined;
}
