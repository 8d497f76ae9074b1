/**
 * The worker in which an engine runs, with the permissions that its file declares (see _process.ts).
 * @module
 */

import {
  type EngineInit,
  type FromEngine,
  packEngine,
  packEngineMap,
  parseToEngine,
  unpackEngineMap,
} from "#lib/engines/messages.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { messageOf } from "#lib/errors.ts";
import { bind } from "#lib/plugins/call.ts";
import { ENGINE_START, type EngineContext, type EngineEvent } from "#lib/plugins/engine.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { postingLogger } from "#lib/runtime/log.ts";
import { postBytes, workerScope } from "#lib/runtime/worker_scope.ts";
import { isMap, toValue } from "#lib/values/value.ts";
import { ENGINES } from "./_built_in.ts";

const send = (message: FromEngine) => postBytes(packEngine(message));

/** Ends the engine. */
const stopping = new AbortController();
/** What waits for an answer, by the number of the request. */
const firing = new Map<number, (isTaken: boolean) => void>();
/** What waits for the next event, by the number of the stream. */
const reading = new Map<number, (event: EngineEvent | undefined) => void>();
let lastId = 0;

function contextOf({ name, role, opts }: EngineInit, logLevel: number): EngineContext {
  const id = role === "master" ? unpackOpts("master", opts).id : unpackOpts("minion", opts).id;
  return {
    name,
    id,
    role,
    log: postingLogger(({ level, message }) => send({ kind: "log", level, text: message }), logLevel),
    signal: stopping.signal,
    async fire(tag, given) {
      const data = toValue(given);
      if (!isMap(data)) throw new TypeError(`the data of the event ${tag} are no map`);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const request = ++lastId;
      firing.set(request, resolve);
      send({ kind: "fire", id: request, tag, data: packEngineMap(data) });
      return await promise;
    },
    events: (...prefixes) => openStream(++lastId, prefixes),
  };
}

/** The events of a stream. The end of reading closes it, and ends a read that waits. */
function openStream(stream: number, prefixes: readonly string[]): AsyncGenerator<EngineEvent> {
  const events = readStream(stream, prefixes);
  const leave = events.return.bind(events);
  events.return = (value) => {
    reading.get(stream)?.(undefined);
    return leave(value);
  };
  return events;
}

async function* readStream(stream: number, prefixes: readonly string[]): AsyncGenerator<EngineEvent> {
  try {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<EngineEvent | undefined>();
      reading.set(stream, resolve);
      send({ kind: "next", stream, prefixes });
      const event = await promise;
      if (event === undefined) return;
      yield event;
    }
  } finally {
    reading.delete(stream);
    send({ kind: "close", stream });
  }
}

/** Runs the engine; a thrown error is the reason of its end. */
async function run(init: EngineInit, directories: readonly string[], logLevel: number): Promise<void> {
  const problems: string[] = [];
  const family = loadFamily<EngineContext>(ENGINES, {
    directories,
    plainFunctions: false,
    warn: (text) => problems.push(text),
  });
  const name = `${init.module}.${ENGINE_START}`;
  const fun = await family.get(name);
  if (fun === undefined) {
    throw new TypeError(problems[0] ?? `the engine ${init.module} has no export ${ENGINE_START} with "run"`);
  }
  const { bound, rest } = bind(fun, [], unpackEngineMap(init.options), name);
  await fun.run(bound, contextOf(init, logLevel), rest);
}

workerScope.onmessage = ({ data }) => {
  const message = parseToEngine(data);
  switch (message.kind) {
    case "start":
      return void run(message.init, message.directories, message.logLevel).then(
        () => send({ kind: "ended", reason: "" }),
        (error: unknown) => send({ kind: "ended", reason: messageOf(error) }),
      );
    case "fired":
      firing.get(message.id)?.(message.isTaken);
      return void firing.delete(message.id);
    case "event":
      return reading.get(message.stream)?.({ tag: message.tag, data: unpackEngineMap(message.data) });
    case "closed":
      return reading.get(message.stream)?.(undefined);
    case "stop":
      for (const resolve of reading.values()) resolve(undefined);
      return stopping.abort(new Error("the engine must end"));
  }
};
// The cache would write to the disk, without the permission to write.
delete workerScope.caches;
send({ kind: "ready" });
