/**
 * Runner `queue`: queues of items on the master, which events give to the reactor. The backend is `sqlite`.
 * Source: Salt 3008.3 `salt/runners/queue.py`, with the backend of 3006.
 * @module
 */

import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { deleteItems, insertItems, listItems, listQueues, popItems } from "./_sqlite_queue.ts";
import { invoke } from "#lib/plugins/call.ts";
import { p } from "#lib/plugins/module.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

const BACKEND = { backend: p.str("sqlite") };

/** @throws {InvocationError} If there is no such backend here. */
function needBackend(backend: string, fun: string): void {
  if (backend !== "sqlite") throw new InvocationError(`Function "${backend}.${fun}" is not available`);
}

export const insert: RunnerFunction = runner({
  doc: runnerDoc(
    "Add an item or items to a queue. An item that is there is an error text.",
    "queue.insert myqueue myitem",
    `queue.insert myqueue "['item1', 'item2', 'item3']"`,
    "queue.insert myqueue myitem backend=sqlite",
  ),
  params: { queue: p.str(), items: p.any(), ...BACKEND },
  run({ queue, items, backend }, { opts }) {
    needBackend(backend, "insert");
    return insertItems(opts.sqlite_queue_dir, queue, items);
  },
});

export const delete_: RunnerFunction = runner({
  doc: runnerDoc(
    "Remove an item or items from a queue.",
    "queue.delete myqueue myitem",
    `queue.delete myqueue "['item1', 'item2', 'item3']"`,
  ),
  params: { queue: p.str(), items: p.any(), ...BACKEND },
  run({ queue, items, backend }, { opts }) {
    needBackend(backend, "delete");
    return deleteItems(opts.sqlite_queue_dir, queue, items);
  },
});

export const list_queues: RunnerFunction = runner({
  doc: runnerDoc("Return the queues.", "queue.list_queues", "queue.list_queues backend=sqlite"),
  params: BACKEND,
  run({ backend }, { opts }) {
    needBackend(backend, "list_queues");
    return listQueues(opts.sqlite_queue_dir);
  },
});

export const list_length: RunnerFunction = runner({
  doc: runnerDoc("Return the number of items in a queue.", "queue.list_length myqueue"),
  params: { queue: p.str(), ...BACKEND },
  run({ queue, backend }, { opts }) {
    needBackend(backend, "list_length");
    return listItems(opts.sqlite_queue_dir, queue).length;
  },
});

export const list_items: RunnerFunction = runner({
  doc: runnerDoc("Return the items of a queue.", "queue.list_items myqueue"),
  params: { queue: p.str(), ...BACKEND },
  run({ queue, backend }, { opts }) {
    needBackend(backend, "list_items");
    return listItems(opts.sqlite_queue_dir, queue);
  },
});

const POP = { queue: p.str(), quantity: p.any(1), ...BACKEND, is_runner: p.bool(false) };

/** A runner with its arguments as it is stored: JSON, or Salt's form of it; another text stays as it is. */
function jobOf(item: string): Value {
  for (const text of [item, item.replaceAll("'", '"')]) {
    try {
      return parseJson(text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }
  return item;
}

function popped(
  { queue, quantity, backend, is_runner }: {
    readonly queue: string;
    readonly quantity: Value;
    readonly backend: string;
    readonly is_runner: boolean;
  },
  { opts }: RunnerContext,
): Value[] {
  needBackend(backend, "pop");
  const items = popItems(opts.sqlite_queue_dir, queue, quantity);
  return is_runner ? items.map(jobOf) : items;
}

export const pop: RunnerFunction = runner({
  doc: runnerDoc(
    "Take one, more or all items out of a queue, and return them.",
    "queue.pop myqueue",
    "queue.pop myqueue 6",
    "queue.pop myqueue all",
  ),
  params: POP,
  run: (given, context) => popped(given, context),
});

/** Takes items, and fires an event with them; False if that cannot be done. */
async function processItems(given: Parameters<typeof popped>[0], context: RunnerContext): Promise<ValueMap | false> {
  let items: Value[];
  try {
    items = popped(given, context);
  } catch (error) {
    if (!(error instanceof InvocationError)) throw error;
    await context.progress(map({ errors: error.message }));
    return false;
  }
  const data = map({ items, backend: given.backend, queue: given.queue });
  await context.fire(`salt/queue/${given.queue}/process`, new Map(data));
  return data;
}

export const process_queue: RunnerFunction = runner({
  doc: runnerDoc(
    "Take items out of a queue, and fire the event `salt/queue/<queue>/process` with them for the reactor.",
    "queue.process_queue myqueue",
    "queue.process_queue myqueue 6",
    "queue.process_queue myqueue all backend=sqlite",
  ),
  params: POP,
  run: (given, context) => processItems(given, context),
});

/** The queue and the backend of runners: those given, or of the option `runner_queue`. */
function runnerQueue(queue: string | null, backend: string | null, { opts }: RunnerContext) {
  const set = opts.runner_queue;
  const name = queue ?? (set.has("queue") ? str(set.get("queue") ?? "") : "");
  if (name === "") throw new InvocationError("No queue is named, and runner_queue has none");
  return { queue: name, backend: backend ?? str(set.get("backend") ?? "pgjsonb") };
}

export const insert_runner: RunnerFunction = runner({
  doc: runnerDoc(
    "Add a runner with its arguments to a queue, to be run later by queue.process_runner.",
    "queue.insert_runner test.stdout_print",
    `queue.insert_runner event.send test_insert_runner kwargs='{"data": {"foo": "bar"}}'`,
  ),
  params: { fun: p.str(), args: p.any(null), kwargs: p.dict(null), queue: p.str(null), backend: p.str(null) },
  run({ fun, args, kwargs, queue, backend }, context) {
    const place = runnerQueue(queue, backend, context);
    needBackend(place.backend, "insert");
    const given = typeof args === "string" ? args.split(",") : listOrEmpty(args);
    const item = map({ fun, args: given, kwargs: kwargs ?? new Map() });
    return insertItems(context.opts.sqlite_queue_dir, place.queue, item);
  },
});

export const process_runner: RunnerFunction = runner({
  doc: runnerDoc("Take runners out of a queue, and run them.", "queue.process_runner", "queue.process_runner 5"),
  params: { quantity: p.any(1), queue: p.str(null), backend: p.str(null) },
  async run({ quantity, queue, backend }, context) {
    const data = await processItems({ ...runnerQueue(queue, backend, context), quantity, is_runner: true }, context);
    // The queue has none of them any more: one that fails must not take those after it along.
    const failures: string[] = [];
    for (const job of data === false ? [] : listOrEmpty(data.get("items"))) {
      try {
        await runQueued(job, context);
      } catch (error) {
        failures.push(`${messageOf(error)}: ${repr(job)}`);
      }
    }
    if (failures.length > 0) throw new CommandError(failures.join("\n"));
    return null;
  },
});

/** Runs a runner as it was in a queue. */
async function runQueued(job: Value, context: RunnerContext): Promise<void> {
  if (!isMap(job)) throw new CommandError("It is no runner with its arguments");
  const name = str(job.get("fun") ?? "");
  const fun = await context.catalogue.get(name);
  if (fun === undefined) throw new CommandError(`'${name}' is not available`);
  const kwargs = mapOrEmpty(job.get("kwargs"));
  await invoke(fun, { name, args: listOrEmpty(job.get("args")), kwargs, context });
}
