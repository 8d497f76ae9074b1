/**
 * Fetches one file from a file server in pieces, and verifies it. A missing piece is requested again; an interrupted
 * transfer continues where it stopped; a file that changed during the transfer is fetched again.
 * @module
 */

import { CommandError, messageOf, RequestTimeoutError, WireError } from "#lib/errors.ts";
import { fileDigest, sameHash } from "./file_digest.ts";
import type { FileHash } from "./file_client.ts";
import { PartialFile } from "./partial_file.ts";
import type { ServerCalls } from "./server_calls.ts";
import { sleep } from "#lib/os/sleep.ts";

/** A file to fetch. */
export interface TransferRequest {
  /** The path in the environment. */
  readonly path: string;
  readonly saltenv: string;
  /** The server's digest of its contents. */
  readonly hash: FileHash;
  /** 1 to 9: pieces are sent compressed. */
  readonly gzip?: number;
}

/** The settings of a transfer, and the functions that it calls. */
export interface TransferHost {
  /** The option `cachedir`. */
  readonly cachedir: string;
  readonly calls: ServerCalls;
  /** Aborts the transfer. */
  readonly signal: AbortSignal;
  /** Pause before a piece is requested again, in milliseconds. */
  readonly pauseMs: number;
  log(level: "warning" | "debug", message: string): void;
}

/** Maximum number of tries to fetch a file. */
const MAX_TRIES = 3;
/** Maximum number of requests in a row for a missing piece. */
const MAX_REQUESTS = 4;
/** Time without an answer after which a transfer ends, in milliseconds: Salt's default time limit for one request. */
const MAX_SILENCE_MS = 180_000;

/**
 * Fetches a file.
 * @param place Moves the verified file, whose path it gets, to where it belongs.
 * @returns What `place` returns; `undefined` if the file does not exist any more.
 * @throws {CommandError} If it changes again and again, or the server cannot be reached. The received data is kept for
 * the next transfer.
 */
export async function fetchFile<T>(
  request: TransferRequest,
  host: TransferHost,
  place: (path: string) => Promise<T>,
): Promise<T | undefined> {
  let { hash } = request;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    using partial = await PartialFile.open(host.cachedir, { ...request, hash });
    if (partial.size > 0) host.log("debug", `Continues ${request.path} at byte ${partial.size}`);
    await receive(partial, request, host);
    if (sameHash(await fileDigest(partial.path, hash.hashType), hash)) {
      return await place(partial.path);
    }
    partial.discard();
    const now = await host.calls.hash(request.path, request.saltenv);
    if (now === undefined) return undefined;
    host.log(
      "warning",
      sameHash(now, hash)
        ? `Bad download of file ${request.path}, attempt ${tries} of ${MAX_TRIES}`
        : `The file ${request.path} changed while it was sent, attempt ${tries} of ${MAX_TRIES}`,
    );
    hash = now;
  }
  throw new CommandError(
    `The file salt://${request.path} of saltenv '${request.saltenv}' could not be fetched: the contents did not match the file server's digest ${MAX_TRIES} times`,
  );
}

/** Requests pieces until there are no more. */
async function receive(partial: PartialFile, request: TransferRequest, host: TransferHost): Promise<void> {
  for (let loc = partial.size;;) {
    host.signal.throwIfAborted();
    const { data } = await pieceAt(loc, request, host);
    if (data.length === 0) return;
    await partial.append(data);
    loc += data.length;
  }
}

async function pieceAt(loc: number, { path, saltenv, gzip }: TransferRequest, host: TransferHost) {
  let silentMs = 0;
  for (let requests = 1;; requests++) {
    try {
      return await host.calls.serve(path, { saltenv, loc, gzip });
    } catch (error) {
      if (!(error instanceof RequestTimeoutError || error instanceof WireError)) throw error;
      if (error instanceof RequestTimeoutError) silentMs += error.waitedMs;
      const what = `byte ${loc} of salt://${path} (saltenv '${saltenv}')`;
      if (requests === MAX_REQUESTS || silentMs >= MAX_SILENCE_MS) {
        throw new CommandError(
          `The transfer was interrupted at ${what}, and continues there next time: ${messageOf(error)}`,
        );
      }
      host.log("warning", `${messageOf(error)}; asks again for ${what}, attempt ${requests} of ${MAX_REQUESTS - 1}`);
      await sleep(host.pauseMs, host.signal);
    }
  }
}
