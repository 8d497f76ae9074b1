/**
 * Messages of a job's process in Python, which runs code that is not trusted: any bytes are a message or an error with
 * a name.
 * @module
 */

import { MsgpackError, WireError } from "#lib/errors.ts";
import { packPython, parseFromPython, parseFromZygote } from "#lib/python_bridge/link/messages.ts";
import { FrameReader, type WireFrame } from "#lib/protocol/frames.ts";
import { encode } from "#lib/values/msgpack.ts";
import { toValue } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

/** The frame of a message. */
function framed(message: Readonly<Record<string, unknown>>): WireFrame {
  const [one] = new FrameReader(1 << 24).push(packPython(message));
  return one;
}

const VALID: readonly Readonly<Record<string, unknown>>[] = [
  { kind: "done", id: 1, retcode: 0, value: "x" },
  { kind: "done", id: 1, retcode: 0, missing: "br.f", reason: "why" },
  {
    kind: "done",
    id: 1,
    retcode: 1,
    error: { class: "ValueError", bases: ["ValueError"], text: "t", trace: "t", info: 1, short: "s", usage: "u" },
  },
  { kind: "ask", id: 1, during: 1, what: "call", fun: "test.ping", args: [], kwargs: {} },
  { kind: "log", level: 20, name: "salt", text: "told" },
];

/** What may be in place of any field. */
const WRONG: readonly unknown[] = [
  null,
  -1,
  2 ** 60,
  1.5,
  NaN,
  "text",
  [],
  [[]],
  {},
  { a: 1 },
  new Uint8Array(3),
  true,
];

/** The message, or the name of the error. */
function outcome(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (error instanceof WireError || error instanceof MsgpackError || error instanceof RangeError) return error.name;
    throw error;
  }
}

Deno.test("each field of a message of Python is checked", () => {
  let refused = 0;
  for (const message of VALID) {
    for (const field of Object.keys(message)) {
      for (const wrong of WRONG) {
        const read = outcome(() => parseFromPython(framed({ ...message, [field]: wrong })));
        if (typeof read === "string") refused++;
      }
      const { [field]: _left, ...without } = message;
      outcome(() => parseFromPython(framed(without)));
    }
  }
  assertEquals(refused > 100, true);
  for (const field of ["kind", "id"]) {
    for (const message of VALID.filter((one) => field in one)) {
      assertThrows(() => parseFromPython(framed({ ...message, [field]: [] })), WireError);
    }
  }
  for (const content of [[], null, "done", [["kind", "log"]]]) {
    assertThrows(
      () => parseFromPython({ sender: 1, content: encode(toValue(content), "disk").slice() }),
      WireError,
      "no map",
    );
  }
  for (const field of ["class", "text", "trace"]) {
    const error = { class: "E", bases: [], text: "", trace: "", [field]: 5 };
    assertThrows(() => parseFromPython(framed({ kind: "done", id: 1, error })), WireError);
  }
});

Deno.test("bytes that are no message have an error with a name", () => {
  let seed = 1;
  const next = () => seed = (seed * 48271) % 0x7fffffff;
  for (let i = 0; i < 2000; i++) {
    const { content } = framed(VALID[i % VALID.length]);
    for (let n = 0; n < 3; n++) content[next() % content.length] = next() & 255;
    outcome(() => parseFromPython({ sender: 1, content }));
    outcome(() => parseFromZygote({ sender: 0, content }));
  }
  for (const text of ["", "{", "[]", "null", '{"started":"1"}', '{"started":-1}', '{"ended":5}', "{}"]) {
    assertThrows(() => parseFromZygote({ sender: 0, content: new TextEncoder().encode(text) }), WireError);
  }
});
