/**
 * What a master publishes, as a scripted minion that has signed in reads it: each job, in the order in which it goes out.
 * @module
 */

import { accessKeyPath } from "../../../lib/config/master_paths.ts";
import type { MasterOpts } from "../../../lib/config/options.ts";
import { clearRequest, parsePublished } from "../../../lib/protocol/payload.ts";
import { RequestChannel, tcpAddress } from "../../../lib/sockets/request_channel.ts";
import { Inbox } from "../../../lib/sockets/endpoint.ts";
import { map, type ValueMap } from "../../../lib/values/value.ts";
import { eventually, WITHIN_MS } from "../eventually.ts";
import { asMap, type ScriptedMinion } from "./scripted_minion.ts";

/** A publish of root's: `test.ping` for everybody, with `over` laid over it. */
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

  /** Listens from now on: what is published after this has resolved is received, and nothing of before. */
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

  /** Publishes a job that means nothing, for the scripted minion alone. @returns What it carries. */
  async #mark(): Promise<string> {
    const mark = `mark ${++this.#marks}`;
    using channel = new RequestChannel(tcpAddress("127.0.0.1", this.#opts.ret_port));
    const frame = publishRequest(this.#opts, { tgt: this.#minion.id, fun: "test.echo", arg: [mark] });
    await channel.request(frame, { timeoutMs: WITHIN_MS, tries: 1 });
    return mark;
  }

  /** The next one of job `jid`: another may have come again meanwhile, for a minion that is slow. @throws {Error} If none comes. */
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

  /** All jobs that have been published by now and were not yet read. */
  async rest(): Promise<ValueMap[]> {
    const last = await this.#mark();
    const jobs: ValueMap[] = [];
    for (let job = await this.#next(); markOf(job) !== last; job = await this.#next()) {
      if (markOf(job) === undefined) jobs.push(job);
    }
    return jobs;
  }

  /** Ends listening. */
  [Symbol.dispose](): void {
    this.inbox.close();
  }
}

function markOf(job: ValueMap): string | undefined {
  const arg = job.get("arg");
  const [first] = Array.isArray(arg) ? arg : [];
  return job.get("fun") === "test.echo" && typeof first === "string" && /^mark \d+$/.test(first) ? first : undefined;
}
