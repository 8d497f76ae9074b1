/**
 * Rows of jobs that the master of this host is asked for: a connection to the database costs a command more than all
 * its questions, and the server a process. Without a running master the command has the database itself.
 * @module
 */

import { accessKeyPath } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { RequestTimeoutError, StoreError } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { asBytes, clearRequest } from "#lib/protocol/payload.ts";
import { NO_STORE } from "#lib/protocol/store_errors.ts";
import { RequestChannel, type RequestOptions } from "#lib/sockets/request_channel.ts";
import { CalledRows, performCall } from "#lib/stores/called_rows.ts";
import { openRows } from "#lib/stores/open_rows.ts";
import { packRows, readRowValue } from "#lib/stores/row_messages.ts";
import type { JobReturnRow, JobRows } from "#lib/stores/rows.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, map, str } from "#lib/values/value.ts";
import { masterAddress } from "./master_address.ts";
import { isMasterRunning } from "./master_running.ts";

/** A master waits for a database that is away, and reads a minute at most. */
const ASK_TIMEOUTS = { timeoutMs: 75_000, tries: 1 };

/** Returns of one answer: one may have megabytes. */
const RETURNS = 200;

/** Calls that no master does for a command. */
const OWN_CALLS: readonly string[] = ["clean", "saveAck", "saveOutput"] satisfies (keyof JobRows)[];

/** The rows of the master whose options these are. */
export class AskedRows extends CalledRows {
  readonly #opts: MasterOpts;
  readonly #timeouts: RequestOptions;
  #channel: RequestChannel | undefined;
  #own: JobRows | undefined;

  constructor(opts: MasterOpts, timeouts: RequestOptions = ASK_TIMEOUTS) {
    super();
    this.#opts = opts;
    this.#timeouts = timeouts;
  }

  /** As {@linkcode JobRows} says; all returns of a job are read by parts. */
  override async returns(jid: string, id: string | null): Promise<JobReturnRow[]> {
    const rows: JobReturnRow[] = [];
    for (let after = "";;) {
      const part = await this.call<JobReturnRow[]>("returns", [jid, id, { after, count: RETURNS }]);
      rows.push(...part);
      const last = part.at(-1);
      if (id !== null || last === undefined || part.length < RETURNS) return rows;
      after = last.id;
    }
  }

  protected override async call<T>(method: keyof JobRows, argument?: unknown): Promise<T> {
    const answered = await this.#asked(method, argument);
    // The value is what the method of the rows gave, and was read as such.
    if (answered !== undefined) return answered.value as T;
    this.#own ??= openRows(this.#opts);
    return await performCall(this.#own, method, argument) as T;
  }

  /** What the master answers; `undefined`: there is none that can. */
  async #asked(method: keyof JobRows, argument: unknown): Promise<{ readonly value: unknown } | undefined> {
    const { cachedir, user, max_request_bytes, sock_dir } = this.#opts;
    if (this.#own !== undefined || OWN_CALLS.includes(method) || !(await isMasterRunning(sock_dir))) return undefined;
    const key = readTextFileIfExists(accessKeyPath(cachedir, user))?.trim() ?? "";
    const frame = clearRequest(map({ cmd: "_store", user, key, method, argument: packRows(argument) }));
    if (frame.length > max_request_bytes) return undefined;
    this.#channel ??= new RequestChannel(masterAddress(this.#opts).requests);
    try {
      return this.#read(method, await this.#channel.request(frame, this.#timeouts));
    } catch (error) {
      if (!(error instanceof RequestTimeoutError)) throw error;
      if (!(await isMasterRunning(sock_dir))) return undefined;
      throw new StoreError("The master does not answer what it is asked of its jobs", "", { cause: error });
    }
  }

  #read(method: string, answer: Uint8Array): { readonly value: unknown } | undefined {
    const reply = decode(answer, "wire");
    if (!isMap(reply)) throw new StoreError(`The master answered ${str(reply)} to ${method}`, "");
    const error = reply.get("error"), value = asBytes(reply.get("value"));
    if (isMap(error) && error.get("name") !== NO_STORE) throw new StoreError(str(error.get("message") ?? ""), "");
    // A master of files, or of a version that does not know the question.
    return value === undefined ? undefined : { value: readRowValue(method, value) };
  }

  override async close(): Promise<void> {
    this.#channel?.close();
    await this.#own?.close();
  }
}
