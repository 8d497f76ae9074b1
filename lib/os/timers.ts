/**
 * `setTimeout` and its like without Node's. Deno's global ones are Node's timers: the first call in a thread loads the
 * compatibility layer, which takes 15 ms of processor time and 2 MB of memory in each thread and each command
 * (measured, Deno 2.9.6). `AbortSignal.timeout()` does not. One such signal waits for the earliest timer of the thread.
 *
 * As with Deno's own, the process does not end before its timers do. Differs from the global ones: callbacks take no
 * arguments, and no timer can be unreferenced.
 * @module
 */

/** A timer that is set, for {@linkcode clearTimeout}. */
export class Timer {
  /** When it is due, on the clock of `performance.now()`. */
  dueMs: number;
  /** Its place in {@linkcode queue}; -1 if it is not set. */
  place = -1;
  readonly run: () => void;
  /** Time between two calls of an interval. */
  readonly everyMs: number | undefined;

  /** @param ms Time until it is due. */
  constructor(run: () => void, ms: number, everyMs?: number) {
    this.run = run;
    this.dueMs = performance.now() + ms;
    this.everyMs = everyMs;
  }
}

/** The longest time that the runtime's timers take, in milliseconds: 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** The timers that are set, as a binary heap: the earliest is the first. */
const queue: Timer[] = [];

/** The signal that wakes this thread, and when it does. It stays when its timer was cleared: a later one may use it. */
let alarm: { readonly signal: AbortSignal; readonly atMs: number; fired: boolean } | undefined;

/** Calls `run` once, in `ms` milliseconds. */
export function setTimeout(run: () => void, ms = 0): Timer {
  return set(new Timer(run, boundDelay(ms)));
}

/** Calls `run` every `ms` milliseconds. */
export function setInterval(run: () => void, ms: number): Timer {
  return set(new Timer(run, boundDelay(ms), boundDelay(ms)));
}

/** Ends a timer. One that is over, and `undefined`, are ignored. */
export function clearTimeout(timer: Timer | undefined): void {
  if (timer === undefined || timer.place < 0) return;
  remove(timer);
  arm();
}

/** Ends an interval, as {@linkcode clearTimeout} does. */
export const clearInterval: (timer: Timer | undefined) => void = clearTimeout;

function boundDelay(ms: number): number {
  return ms > 0 ? Math.min(ms, LONGEST_MS) : 0;
}

function set(timer: Timer): Timer {
  timer.place = queue.push(timer) - 1;
  rise(timer);
  arm();
  return timer;
}

/** Makes the runtime wake this thread for the earliest timer; without timers, the process is not kept alive. */
function arm(): void {
  const first = queue.at(0);
  if (first === undefined) return ignore();
  // It may be over, if no timer was set when it came.
  if (alarm === undefined || alarm.atMs > first.dueMs || alarm.signal.aborted) {
    ignore();
    const now = performance.now();
    const ms = Math.max(0, Math.ceil(first.dueMs - now));
    alarm = { signal: AbortSignal.timeout(ms), atMs: now + ms, fired: false };
  }
  if (alarm.fired) return;
  alarm.fired = true;
  // A signal with a listener keeps the process alive; one without does not.
  alarm.signal.addEventListener("abort", ring);
}

function ignore(): void {
  if (alarm === undefined || !alarm.fired) return;
  alarm.fired = false;
  alarm.signal.removeEventListener("abort", ring);
}

/**
 * Calls the timers that are due. A callback that throws is an uncaught error, as with any timer; the others are called
 * anyway.
 */
function ring(): void {
  alarm = undefined;
  const now = performance.now();
  try {
    for (let first = queue.at(0); first !== undefined && first.dueMs <= now; first = queue.at(0)) {
      remove(first);
      if (first.everyMs !== undefined) {
        first.dueMs = now + Math.max(first.everyMs, 1);
        first.place = queue.push(first) - 1;
        rise(first);
      }
      first.run();
    }
  } finally {
    arm();
  }
}

function remove(timer: Timer): void {
  const last = queue.pop();
  const { place } = timer;
  timer.place = -1;
  if (last === undefined || last === timer) return;
  put(last, place);
  rise(last);
  sink(last);
}

function put(timer: Timer, place: number): void {
  queue[place] = timer;
  timer.place = place;
}

function rise(timer: Timer): void {
  while (timer.place > 0) {
    const above = queue[(timer.place - 1) >> 1];
    if (above.dueMs <= timer.dueMs) return;
    swap(above, timer);
  }
}

function sink(timer: Timer): void {
  for (;;) {
    const [left, right] = [queue.at(2 * timer.place + 1), queue.at(2 * timer.place + 2)];
    const earlier = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
    if (earlier === undefined || timer.dueMs <= earlier.dueMs) return;
    swap(timer, earlier);
  }
}

/** Exchanges a timer and one below it. */
function swap(above: Timer, below: Timer): void {
  const [upper, lower] = [above.place, below.place];
  put(below, upper);
  put(above, lower);
}
