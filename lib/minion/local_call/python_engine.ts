/**
 * An engine in Python, in its process. It reads and fires events through its host, and calls execution functions as
 * `salt-call` does, on a master with the master's options.
 * @module
 */

import type { EngineBus, EventStream } from "#lib/engines/engine_bus.ts";
import { type EngineInit, unpackEngineMap } from "#lib/engines/messages.ts";
import type { PythonEngineParts } from "#lib/engines/python_engine_parts.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { PluginFunctions } from "./plugin_functions.ts";
import { sleep } from "#lib/os/sleep.ts";
import { ENGINE_START } from "#lib/plugins/engine.ts";
import { answerByCalls } from "#lib/python_bridge/loader/answers_by_calls.ts";
import { PythonQuestionFields } from "#lib/python_bridge/loader/question_fields.ts";
import { PythonLease, SeparateCalls } from "#lib/python_bridge/loader/separate_calls.ts";
import { MissingPlugin, type PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";

/** Maximum number of streams of events that an engine reads. */
const MAX_STREAMS = 16;

/** Answers further questions of an engine; `undefined` for others. */
type FurtherAnswers = (question: PythonQuestion) => Promise<unknown>;

/**
 * Runs the engine.
 * @param further Answers what not every engine may ask.
 * @returns Why it has ended; empty if it returned.
 */
export async function runPythonEngine(
  { module, options }: EngineInit,
  parts: PythonEngineParts,
  further?: FurtherAnswers,
): Promise<string> {
  const { opts, plugins, log, signal } = parts;
  const lease = new PythonLease(opts, { printed: log.info, keeps: false });
  await using host = await PluginFunctions.open(parts);
  const events = new EngineEvents(parts.bus, signal);
  const calls = new SeparateCalls<{ readonly signal: AbortSignal }>({
    role: "engine",
    plugins,
    log,
    context: () => ({ signal }),
    answers: () => async (question) => {
      const own = await events.answer(question);
      const answer = own === undefined ? await further?.(question) : own;
      return answer === undefined ? await answerByCalls(question, host) : answer;
    },
    isHidden: () => false,
  }, lease);
  const fun = `${module}.${ENGINE_START}`;
  const call = {
    kind: "call",
    family: "engines",
    fun,
    args: [],
    kwargs: unpackEngineMap(options),
    test: false,
  } as const;
  try {
    await calls.request(call, { signal });
    return "";
  } catch (error) {
    if (!(error instanceof MissingPlugin)) return messageOf(error);
    return error.reason ? `the engine ${module} does not load: ${error.reason}` : `the engine ${module} has no start()`;
  } finally {
    events.close();
  }
}

/** The events that an engine fires and reads. */
class EngineEvents {
  readonly #bus: EngineBus;
  readonly #signal: AbortSignal;
  readonly #streams = new Map<number, EventStream>();
  /** The event that a stream was asked for, if it has not come in time. */
  readonly #asked = new Map<number, ReturnType<EventStream["next"]>>();
  #last = 0;

  constructor(bus: EngineBus, signal: AbortSignal) {
    this.#bus = bus;
    this.#signal = signal;
  }

  /** The answer to a question about events; `undefined` if it is another one. */
  async answer({ what, fields }: PythonQuestion): Promise<unknown> {
    const given = new PythonQuestionFields(fields);
    switch (what) {
      case "fire": {
        const data = given.value("data"), fire = given.value("here") === true ? this.#bus.fireHere : this.#bus.fire;
        return await fire(given.text("tag"), isMap(data) ? data : map({ data }));
      }
      case "event_open":
        if (this.#streams.size >= MAX_STREAMS) throw new CommandError(`more than ${MAX_STREAMS} streams of events`);
        this.#streams.set(++this.#last, await this.#bus.open([""]));
        return this.#last;
      case "event_next":
        return await this.#next(given.number("stream") ?? 0, given.number("wait_ms") ?? 0);
      case "event_close":
        this.#close(given.number("stream") ?? 0);
        return true;
      default:
        return undefined;
    }
  }

  /** The next event; `null` if none comes in time. */
  async #next(id: number, waitMs: number): Promise<Value> {
    const stream = this.#streams.get(id);
    if (stream === undefined) throw new CommandError("there is no such stream of events");
    const asked = this.#asked.get(id) ?? stream.next();
    this.#asked.set(id, asked);
    const ended = new AbortController();
    const event = await Promise.race([
      asked,
      sleep(waitMs, AbortSignal.any([this.#signal, ended.signal])).then(() => null, () => null),
    ]);
    ended.abort();
    if (event === null) return null;
    this.#asked.delete(id);
    if (event === undefined) throw new CommandError("the bus has ended");
    return map({ tag: event.tag, data: event.data });
  }

  #close(id: number): void {
    this.#streams.get(id)?.close();
    this.#streams.delete(id);
    this.#asked.delete(id);
  }

  close(): void {
    for (const id of [...this.#streams.keys()]) this.#close(id);
  }
}
