/** The output of sessions: lines with the mark, whatever a host writes around them. */

import { SshError, WireError } from "#lib/errors.ts";
import { MarkedOutput } from "#lib/ssh/marked_output.ts";
import {
  messageReader,
  packCall,
  packHostAnswer,
  packHostMessage,
  unpackAnswer,
  unpackCall,
  unpackMessage,
} from "#lib/ssh/messages.ts";
import { unpackSshClientCall } from "#lib/ssh/client_call.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";

const MARK = "0123456789abcdef0123456789abcdef";

function output(...pieces: (string | Uint8Array<ArrayBuffer>)[]): MarkedOutput {
  const bytes = pieces.map((piece) => typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
  return new MarkedOutput(ReadableStream.from(bytes).getReader(), { mark: MARK, onPiece: () => {} });
}

Deno.test("a line with the mark is found however it is cut into pieces; what follows it is bytes", async () => {
  const text = `Welcome\n${MARK.slice(0, 9)}\n${MARK} of no line start\r\n\n${MARK} run now\r\n\x00\xff`;
  for (const size of [1, 7, 1000]) {
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const pieces = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, i) => bytes.slice(i * size, (i + 1) * size),
    );
    const marked = output(...pieces);
    // A line of the host's own that begins with the mark would need the mark, which it has not.
    assertEquals(await marked.nextLine(), { word: "of", rest: "no line start" });
    assertEquals(await marked.nextLine(), { word: "run", rest: "now" });
    const rest: number[] = [];
    for (let piece = await marked.next(); piece !== undefined; piece = await marked.next()) rest.push(...piece);
    assertEquals(rest, [0, 255]);
  }
});

Deno.test("an output without the mark ends, and its noise is kept; one without an end is refused", async () => {
  const marked = output("no such shell\n");
  assertEquals(await marked.nextLine(), undefined);
  assertEquals(marked.noise, "no such shell\n");
  const megabyte = new Uint8Array(2 ** 20).fill(65);
  await assertRejects(() => output(...Array(6).fill(megabyte)).nextLine(), SshError, "before it began");
  await assertRejects(() => output(`\n${MARK} `, megabyte).nextLine(), SshError, "a line without an end");
});

Deno.test("messages come back as they were, and others are refused", () => {
  const one = (bytes: Uint8Array) => messageReader().push(bytes)[0].content;
  const call = {
    id: "web1",
    fun: "test.arg",
    arg: [1, "a"],
    jid: "2026",
    minionOpts: map({ a: 1 }),
    grains: map({ b: new Uint8Array([255]) }),
    logLevel: 30,
    syncs: true,
  };
  assertEquals(unpackCall(one(packCall(call))), call);
  const outcome = {
    what: "outcome",
    return: map({ x: 1.5 }),
    retcode: 2,
    out: "highstate",
    errorDetails: ["d"],
  } as const;
  assertEquals(unpackMessage(one(packHostMessage(outcome))), outcome);
  const request = { what: "request", number: 3, load: map({ cmd: "_pillar" }) } as const;
  assertEquals(unpackMessage(one(packHostMessage(request))), request);
  assertEquals(unpackAnswer(one(packHostAnswer(3, { error: "no" }))), { number: 3, answer: { error: "no" } });
  const failed = { what: "failed", message: "no memory" } as const;
  assertEquals(unpackMessage(one(packHostMessage(failed))), failed);
  assertThrows(() => unpackMessage(new Uint8Array([0xc1])), WireError);
  assertThrows(() => unpackMessage(encode([1], "disk")), WireError, "no map");
  assertThrows(() => unpackMessage(encode(map({ what: "request", load: 1 }), "disk")), WireError, "without a load");
  assertThrows(() => unpackSshClientCall(encode(map({ fun: "test.ping" }), "disk")), WireError, "without options");
  assertThrows(() => unpackMessage(one(packHostAnswer(3, { value: 1 }))), WireError, "unknown message");
  assertThrows(() => unpackCall(one(packHostAnswer(3, { value: 1 }))), WireError, "without id");
  assertThrows(() => messageReader().push(new Uint8Array([0xff, 0, 0, 0, 1])), RangeError);
});
