/**
 * Engine `script`: runs a command again and again, and fires an event for each line that it writes.
 * Source: Salt 3008.3 `salt/engines/script.py`, its options and their meaning.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import { engine, type EngineContext } from "#lib/plugins/engine.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { SERIALIZERS } from "#lib/render/serializers.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { equals, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Maximum length of a line, in UTF-16 units. */
const MAX_LINE = 16 * 2 ** 20;
/** Tags whose last data are kept for `onchange`. */
const MAX_TAGS = 10_000;
/** The shortest pause between two runs, in milliseconds. */
const MIN_PAUSE_MS = 100;

/** What a line says. */
interface ScriptEvent {
  readonly tag: string;
  readonly data: ValueMap;
}

type ReadLine = (line: string) => Promise<ScriptEvent | undefined>;

/** A command that writes events. */
class EventScript {
  readonly #words: readonly string[];
  readonly #read: ReadLine;
  readonly #onchange: boolean;
  readonly #context: EngineContext;
  /** The last data of each tag. */
  readonly #last = new Map<string, ValueMap>();

  constructor(words: readonly string[], read: ReadLine, onchange: boolean, context: EngineContext) {
    this.#words = words;
    this.#read = read;
    this.#onchange = onchange;
    this.#context = context;
  }

  /**
   * Runs it once.
   * @throws {Error} If it cannot be started, or writes a line that is too long.
   */
  async run(): Promise<void> {
    const { log, signal } = this.#context;
    const [command, ...args] = this.#words;
    const child = new Deno.Command(command, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
    const end = () => {
      try {
        child.kill("SIGTERM");
      } catch {
        // It has ended.
      }
    };
    signal.addEventListener("abort", end);
    try {
      const errors = eachLine(child.stderr, (line) => Promise.resolve(log.info(`${command}: ${line}`)));
      await Promise.all([eachLine(child.stdout, (line) => this.#take(line)), errors]);
      const { code, signal: killed } = await child.status;
      if (code !== 0 && !signal.aborted) {
        log.error(`${command} ended ${killed === null ? `with ${code}` : `by ${killed}`}`);
      }
    } finally {
      end();
      signal.removeEventListener("abort", end);
    }
  }

  async #take(line: string): Promise<void> {
    if (line.trim() === "") return;
    const { log, fire } = this.#context;
    let event: ScriptEvent | undefined;
    try {
      event = await this.#read(line);
    } catch (error) {
      return log.error(`A line of ${this.#words[0]} is no event: ${messageOf(error)}: ${truncateRepr(line)}`);
    }
    if (event === undefined) return;
    const { tag, data } = event;
    if (this.#onchange) {
      const last = this.#last.get(tag);
      if (last !== undefined && equals(last, data)) return;
      if (last === undefined && this.#last.size >= MAX_TAGS) this.#last.clear();
      this.#last.set(tag, data);
    }
    if (!await fire(tag, data)) log.error(`The event ${tag} could not be fired`);
  }
}

/** Calls `take` for each line, one after the other. */
async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => Promise<void>): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of stream) {
    const lines = decoder.decode(piece, { stream: true }).split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) throw new RangeError(`a line is longer than ${MAX_LINE} characters`);
    for (const line of lines) await take(line);
  }
  if (rest !== "") await take(rest);
}

/**
 * What reads a line in the format `output`.
 * @throws {TypeError} If there is no such format.
 */
function lineReader(output: string, id: string): ReadLine {
  if (!Object.hasOwn(SERIALIZERS, output)) {
    throw new TypeError(`Unknown serializer \`${output}\` found for output option`);
  }
  const { deserialize } = SERIALIZERS[output];
  return async (line) => {
    const said = await deserialize(line, new Map());
    if (!isMap(said)) throw new TypeError("it is no map");
    const tag = said.get("tag") ?? null;
    if (tag === null || tag === "") return undefined;
    if (typeof tag !== "string") throw new TypeError("its tag is no text");
    const data = said.get("data") ?? map({});
    if (!isMap(data)) throw new TypeError("its data are no map");
    if (data.size > 0 && !data.has("id")) data.set("id", id);
    return { tag, data };
  };
}

function wordsOf(cmd: Value): string[] {
  const words = Array.isArray(cmd) ? cmd.map(str) : shlexSplit(str(cmd));
  if (words.length === 0) throw new TypeError("cmd is empty");
  return words;
}

export const start: ModuleFunction<EngineContext> = engine({
  doc:
    "Runs the command `cmd` every `interval` seconds. Each line that it writes is a map of `tag` and `data`, in the " +
    "format `output`, and becomes an event; `id` is added to the data. With `onchange`, only if the data of the tag " +
    "have changed.",
  params: { cmd: p.any(), output: p.str("json"), interval: p.float(1), onchange: p.bool(false) },
  permissions: { run: true, env: true, read: true },
  async run({ cmd, output, interval, onchange }, context) {
    const script = new EventScript(wordsOf(cmd), lineReader(output, context.id), onchange, context);
    const { signal, log } = context;
    while (!signal.aborted) {
      await script.run().catch((error: unknown) => log.error(messageOf(error)));
      await sleep(Math.max(MIN_PAUSE_MS, interval * 1000), signal).catch(() => {}); // it must end
    }
  },
});
