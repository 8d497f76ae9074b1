/** @module */
import { SupervisedThread, type SupervisedThreadOptions } from "#lib/sockets/supervised_thread.ts";
import { sleep } from "#lib/os/sleep.ts";
import { ZmqContext, type ZmqSocket } from "#lib/sockets/libzmq.ts";
import { StopWord } from "#lib/values/stop_word.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type KeptServiceInit, SERVICE_EVENTS } from "#tests/support/threads/supervised_service.ts";
import { ObservedWorkers } from "#tests/support/threads/observed_workers.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";

/** An echo service, the events of its threads, and the peer of its socket. */
class Echo implements AsyncDisposable {
  readonly logged: string[] = [];
  /** The echoes, in the order received. */
  readonly received: number[] = [];
  readonly thread: SupervisedThread<KeptServiceInit>;
  readonly #workers = new ObservedWorkers();
  readonly #context = ZmqContext.create();
  readonly #socket: ZmqSocket;
  readonly #story = new Int32Array(new SharedArrayBuffer(400));
  readonly #release = new Int32Array(new SharedArrayBuffer(4));

  constructor(options: Pick<SupervisedThreadOptions<KeptServiceInit>, "canOverlap" | "stuckMs" | "maxComputingMs">) {
    let stop = new StopWord();
    this.#socket = this.#context.socket("dealer");
    this.#socket.bind("inproc://echo");
    const place = { context: this.#context.address, address: "inproc://echo" };
    this.thread = new SupervisedThread<KeptServiceInit>({
      name: "Echo",
      url: new URL("../support/threads/supervised_service.ts", import.meta.url),
      log: recordingLogger(this.logged),
      init: () => {
        stop = new StopWord();
        return { place, story: this.#story.buffer, release: this.#release.buffer, stop: stop.memory };
      },
      stopComputing: () => stop.stop(9),
      unwanted: () => false,
      ...options,
    });
  }

  get story(): string[] {
    return [...this.#story.subarray(1, 1 + Atomics.load(this.#story, 0))].map((number) => SERVICE_EVENTS[number]);
  }

  async happened(what: string, times = 1): Promise<void> {
    await eventually(() => this.story.filter((word) => word === what).length === times, { what: `"${what}"` });
  }

  /** Makes the thread hang inside a turn, and reports it as dead. */
  async hangAndKill(): Promise<void> {
    await this.thread.ready;
    this.thread.post("hang");
    await this.happened("hangs");
    this.#workers.kill("Echo");
  }

  release(): void {
    Atomics.store(this.#release, 0, 1);
    Atomics.notify(this.#release, 0);
  }

  send(numbers: readonly number[]): void {
    for (const number of numbers) assert(this.#socket.trySend([new Uint8Array([number])]));
  }

  /** Waits until each of these numbers has been echoed. */
  async echoed(wanted: readonly number[], withinMs?: number): Promise<void> {
    await eventually(() => {
      for (let frames = this.#socket.tryReceive(); frames !== undefined; frames = this.#socket.tryReceive()) {
        this.received.push(frames[0][0]);
      }
      return wanted.every((number) => this.received.includes(number));
    }, { what: `the echo of ${wanted}`, everyMs: 2, ...withinMs !== undefined && { withinMs } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.thread.stop();
    this.#workers[Symbol.dispose]();
    this.#socket.close();
    assert(!this.thread.hasSockets, "sockets are left");
    this.#context.terminate();
  }
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

Deno.test("a successor starts when the last turn of its predecessor has ended, and is the only user of its socket", async () => {
  await using echo = new Echo({ canOverlap: false });
  await echo.hangAndKill();
  echo.send(numbers(1, 10));
  // Long enough for a successor to start, if it did not wait.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  echo.release();
  await echo.happened("started", 2);
  await echo.echoed(numbers(1, 10)); // the messages received meanwhile
  assertEquals(echo.received, numbers(1, 10));
  await echo.happened("refused");
  assertEquals(echo.story.filter((word) => word !== "refused"), ["started", "hangs", "released", "started"]);
  assertEquals(echo.logged, ["CRITICAL: Echo died and is started again: killed by the test"]);
});

Deno.test("if a thread hangs, another one works with its own socket", async () => {
  await using echo = new Echo({ canOverlap: true, stuckMs: 300 });
  await echo.hangAndKill();
  await echo.happened("started", 2);
  assertEquals(echo.story, ["started", "hangs", "started"]);
  await echo.thread.ready;
  echo.send(numbers(1, 10));
  await eventually(() => echo.echoed([]).then(() => echo.received.length === 5), {
    what: "an echo of every other number",
  });
  assertEquals(echo.logged.length, 2);
  assert(echo.logged[1].includes("another thread replaces it"), echo.logged[1]);
  echo.release();
  await echo.happened("refused");
  // The old thread's socket is closed at the end, and all messages go to the new one.
  let number = 10;
  await eventually(() => {
    const next = [++number, ++number];
    echo.send(next);
    return echo.echoed(next, 300).then(() => true);
  }, { what: "both echoes of two numbers" });
  assertEquals(echo.story.includes("touched"), false);
});

Deno.test("a hanging thread that cannot be replaced is reported until it returns", async () => {
  await using echo = new Echo({ canOverlap: false, stuckMs: 100 });
  await echo.hangAndKill();
  await eventually(() => echo.logged.length >= 3, { what: "the second log line" });
  assert(echo.logged.slice(1).every((line) => line.includes("restart this service")), echo.logged.join("\n"));
  assertEquals(echo.story, ["started", "hangs"]);
  echo.release();
  await echo.happened("started", 2);
  echo.send([1]);
  await echo.echoed([1]);
});

Deno.test("a thread that computes without end is reported, replaced, and uses no processor; one that works or waits is not", async () => {
  await using echo = new Echo({ canOverlap: true, maxComputingMs: 200 });
  await echo.thread.ready;
  const look = (): boolean => {
    echo.thread.look();
    return echo.logged.length > 0;
  };
  // It answers, whatever it has computed.
  for (let number = 1; number <= 20; number++) {
    echo.send([number]);
    await echo.echoed([number]);
    assert(!look());
  }
  echo.thread.post("compute");
  await echo.happened("computes");
  echo.send([30, 31]);
  await eventually(look, { what: "the replacement", everyMs: 20 });
  assertEquals(echo.logged, [
    "CRITICAL: Echo computes for more than 200 ms of a processor, answers nobody, and is replaced",
  ]);
  await echo.echoed([30, 31]);
  await echo.happened("released");
  assertEquals(echo.story.toSorted(), ["computes", "released", "started", "started"]);
});

Deno.test("a thread that waits in a system call is not taken for one that computes", async () => {
  await using echo = new Echo({ canOverlap: true, maxComputingMs: 50 });
  await echo.thread.ready;
  echo.thread.look();
  echo.thread.post("hang");
  await echo.happened("hangs");
  for (let i = 0; i < 30; i++) {
    echo.thread.look();
    await sleep(50);
  }
  assertEquals(echo.logged, []);
});
