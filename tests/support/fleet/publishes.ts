/**
 * The publishes of a master, as a scripted minion that has signed in reads them: each job, in order.
 * @module
 */

import { accessKeyPath } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { clearRequest, parsePublished } from "#lib/protocol/payload.ts";
import { RequestChannel, tcpAddress } from "#lib/sockets/request_channel.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { asMap, type ScriptedMinion } from "./scripted_minion.ts";

/** A publish by root: `test.ping` for all minions; the fields of `over` replace the defaults. */
export function publishRequest({ cachedir }: MasterOpts, over: Record<string, unknown> = {}): Uint8Array {
  const key = Deno.readTextFileSync(accessKeyPath(cachedir, "root"));
  const job = { tgt: "*", fun: "test.ping", arg: [], tgt_type: "glob", ret: "", jid: "", kwargs: {}, user: "root" };
  return clearRequest(map({ cmd: "publish", key, ...job, ...over }));
}

/** The jobs that a master publishes. */
export class Publishes implements Disposable {
  /** The socket that receives them. */
  readonly inbox: Inbox;
  readonly #opts: MasterOpts;
  readonly #minion: ScriptedMinion;
  #marks = 0;

  private constructor(opts: MasterOpts, minion: ScriptedMinion) {
    this.#opts = opts;
    this.#minion = minion;
    this.inbox = Inbox.subscriber({ highWaterMark: 0, reconnectMs: 20 });
    this.inbox.subscribe("");
    this.inbox.connect(tcpAddress("127.0.0.1", opts.publish_port));
  }

  /** Subscribes: receives all publishes after it has resolved, and none from before. */
  static async listen(opts: MasterOpts, minion: ScriptedMinion): Promise<Publishes> {
    const publishes = new Publishes(opts, minion);
    try {
      await eventually(async () => {
        await publishes.#mark();
        return await publishes.inbox.receive(100) !== undefined;
      }, { what: "a publish" });
      await publishes.rest();
      return publishes;
    } catch (error) {
      publishes[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Publishes a job without effect, for the scripted minion alone.
   * @returns Its load.
   */
  async #mark(): Promise<string> {
    const mark = `mark ${++this.#marks}`;
    using channel = new RequestChannel(tcpAddress("127.0.0.1", this.#opts.ret_port));
    const frame = publishRequest(this.#opts, { tgt: this.#minion.id, fun: "test.echo", arg: [mark] });
    await channel.request(frame, { timeoutMs: WITHIN_MS, tries: 1 });
    return mark;
  }

  /**
   * The next publish of job `jid`; skips other jobs, which may be published again for a slow minion.
   * @throws {Error} If none is received.
   */
  async of(jid: string): Promise<ValueMap> {
    for (;;) {
      const job = await this.#next();
      if (job.get("jid") === jid) return job;
    }
  }

  async #next(): Promise<ValueMap> {
    const frames = await this.inbox.receive(WITHIN_MS);
    const { shared } = this.#minion;
    if (frames === undefined || shared === undefined) throw new Error("no publish");
    return asMap(shared.loads(parsePublished(frames[frames.length - 1]).load));
  }

  /** All jobs that were published but not read yet. */
  async rest(): Promise<ValueMap[]> {
    const last = await this.#mark();
    const jobs: ValueMap[] = [];
    for (let job = await this.#next(); markOf(job) !== last; job = await this.#next()) {
      if (markOf(job) === undefined) jobs.push(job);
    }
    return jobs;
  }

  [Symbol.dispose](): void {
    this.inbox.close();
  }
}

function markOf(job: ValueMap): string | undefined {
  const arg = job.get("arg");
  const [first] = Array.isArray(arg) ? arg : [];
  return job.get("fun") === "test.echo" && typeof first === "string" && /^mark \d+$/.test(first) ? first : undefined;
}
