import { RefusedError, WireError } from "#lib/errors.ts";
import {
  type FunctionJob,
  type FunctionMessage,
  type FunctionRequest,
  packFunctionInit,
  packFunctionJob,
  packFunctionOutcome,
  parseFunctionMessage,
  parseFunctionRequest,
  unpackFunctionInit,
  unpackFunctionJob,
  unpackFunctionOutcome,
} from "#lib/master/functions/messages.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";

const JOB: FunctionJob = {
  kind: "wheel",
  fun: "key.list",
  args: ["all", 1],
  kwargs: map({ a: [1] }),
  jid: "20240102030405000000",
  user: "ann",
};

/** Requests whose messages the test takes and answers. */
class Asking {
  readonly posted: FunctionRequest[] = [];
  parked = 0;
  readonly requests = new FunctionRequests((request) => this.posted.push(request), () => this.parked++);

  /** News of the last request. */
  tell(state: FunctionMessage["state"], outcome: Uint8Array = new Uint8Array()): void {
    this.requests.receive({ key: this.posted.at(-1)?.key, state, outcome });
  }
}

const OUTCOME = { return: map({ minions: ["web1"] }), success: true };

Deno.test("a function that is started is over for its thread when it is sure to be run", async () => {
  const asking = new Asking();
  const started = asking.requests.start(JOB);
  assertEquals(unpackFunctionJob(parseFunctionRequest(asking.posted[0]).job), JOB);
  asking.tell("taken");
  await started;
  assertEquals(asking.parked, 1);
  // What comes of it later is nobody's here.
  asking.tell("lost");
  const ended = asking.requests.start(JOB);
  asking.tell("ended", packFunctionOutcome(OUTCOME));
  await ended;
});

Deno.test("a function that is called ends with its outcome", async () => {
  const asking = new Asking();
  const called = asking.requests.call(JOB);
  asking.tell("taken");
  asking.requests.receive({ key: "a predecessor's", state: "lost", outcome: new Uint8Array() });
  asking.tell("ended", packFunctionOutcome(OUTCOME));
  assertEquals(await called, OUTCOME);
});

Deno.test("a function that is not run, or whose process is lost, is refused with the reason", async () => {
  for (
    const [state, text] of [
      ["full", "The master cannot run it: too many functions are running already"],
      ["lost", "The master cannot run it: its process has ended"],
    ] as const
  ) {
    for (const ask of ["start", "call"] as const) {
      const asking = new Asking();
      const reply = asking.requests[ask](JOB);
      asking.tell(state);
      const error = await assertRejects(() => reply, RefusedError);
      assertEquals([error.kind, error.message], ["SaltMasterError", text]);
    }
  }
});

Deno.test("a function that has not ended after five minutes is refused: its client has given up", async () => {
  const asking = new Asking();
  using time = new SkippedTime();
  let over = false;
  const called = assertRejects(() => asking.requests.call(JOB).finally(() => over = true), RefusedError);
  asking.tell("taken");
  await time.to(290_000);
  assertEquals(over, false);
  await time.to(400_000);
  await called;
});

Deno.test("messages of functions are what they were packed from", () => {
  const opts = Uint8Array.of(1, 2);
  assertEquals(unpackFunctionInit(packFunctionInit(packFunctionJob(JOB), opts)), { job: JOB, opts });
  assertEquals(unpackFunctionOutcome(packFunctionOutcome({ return: null, success: false })), {
    return: null,
    success: false,
  });
});

Deno.test("other messages are refused", () => {
  const bytes = (value: Value) => encode(value, "disk");
  const job = map({ kind: "runner", fun: "a.b", args: [], kwargs: new Map(), jid: "", user: "" });
  const cases: (() => unknown)[] = [
    () => parseFunctionMessage({ key: "k", state: "other", outcome: new Uint8Array() }),
    () => parseFunctionMessage({ key: "k", state: "full" }),
    () => parseFunctionRequest({ key: 1, job: new Uint8Array() }),
    () => parseFunctionRequest("a text"),
    () => unpackFunctionJob(bytes([1])),
    () => unpackFunctionJob(bytes(new Map(job).set("kind", "module"))),
    () => unpackFunctionJob(bytes(new Map(job).set("args", "a"))),
    () => unpackFunctionJob(bytes(new Map(job).set("kwargs", null))),
    () => unpackFunctionOutcome(bytes("done")),
    () => unpackFunctionOutcome(bytes(map({ success: true }))),
    () => unpackFunctionInit(bytes(null)),
    () => unpackFunctionInit(bytes(map({ job: bytes(job) }))),
  ];
  for (const act of cases) assertThrows(act, WireError, "", act.toString());
});
