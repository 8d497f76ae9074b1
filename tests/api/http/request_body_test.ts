/** Bodies that come slowly, are huge, or multiply when they are read, in each form that the API takes. */

import { BODY_TYPES, readRequestBody } from "#lib/api/http/request_body.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { chunksOf } from "#lib/api/calls/run_chunks.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";

const BOUNDS = { maxBytes: 1 << 20, timeoutMs: 30_000, types: BODY_TYPES };

/** The status that reading answers with; 200: it was read. */
async function statusOf(body: BodyInit, type: string, bounds: Partial<typeof BOUNDS> = {}): Promise<number> {
  const headers = { "Content-Type": type };
  try {
    await readRequestBody(new Request("http://localhost/", { method: "POST", headers, body }), {
      ...BOUNDS,
      ...bounds,
    });
    return 200;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

Deno.test("a body that does not end is given up, and its stream with it", async () => {
  const ended = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (control) => control.enqueue(new TextEncoder().encode("[")),
    cancel: () => ended.resolve(),
  });
  assertEquals(await statusOf(body, "application/json", { timeoutMs: 50 }), 408);
  await ended.promise;
});

Deno.test("a gigabyte is refused when the bound is reached, and not kept", async () => {
  let sent = 0;
  const body = new ReadableStream({
    pull: (control) => {
      sent += 65_536;
      control.enqueue(new Uint8Array(65_536));
    },
  });
  assertEquals(await statusOf(body, "application/json"), 413);
  assert(sent <= BOUNDS.maxBytes + 4 * 65_536, `${sent} bytes were read`);
});

/** Ten of ten of ten of ten of ten: a hundred thousand from a line. */
const MULTIPLIES = `{a: &a [x,x,x,x,x,x,x,x,x,x], b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a], ` +
  `c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b], d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c], e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]}`;

Deno.test("aliases that multiply are refused in each form that has YAML in it", async () => {
  for (const type of ["application/x-yaml", "text/yaml"]) assertEquals(await statusOf(MULTIPLIES, type), 400, type);
  // JSON has no aliases, and text that is no JSON is a text.
  assertEquals(await statusOf(MULTIPLIES, "application/json"), 400);
  assertEquals(await statusOf(MULTIPLIES, "text/plain"), 200);
  // A form's arg and kwarg are words as on a command line.
  for (const name of ["arg", "kwarg"]) {
    const form = new URLSearchParams({ client: "local", tgt: "*", fun: "test.echo", [name]: `v=${MULTIPLIES}` });
    const read = await readRequestBody(new Request("http://localhost/", { method: "POST", body: form }), BOUNDS);
    let size = 0;
    const count = (value: unknown): void => {
      if (++size > 100_000) throw new Error(`${name} has multiplied`);
      if (value instanceof Map || Array.isArray(value)) value.forEach(count);
    };
    chunksOf(read.data, true).forEach(count);
    assert(size < 1_000, `${name}: ${size}`);
  }
});

Deno.test("a body that is cut off is the client's error, and one of a wrong type or length is dropped", async () => {
  const cut = new ReadableStream({
    start: (control) => control.enqueue(new TextEncoder().encode("[")),
    pull: (control) => control.error(new TypeError("connection reset")),
  });
  assertEquals(await statusOf(cut, "application/json"), 400);
  for (const [type, maxBytes, status] of [["image/png", 3, 406], ["application/json", 2, 413]] as const) {
    const dropped = Promise.withResolvers<void>();
    const body = new ReadableStream({ cancel: () => dropped.resolve() });
    const headers = new Headers({ "Content-Type": type, "Content-Length": "3" });
    const error = await assertRejects(() => readRequestBody({ headers, body }, { ...BOUNDS, maxBytes }), ApiError);
    assertEquals(error.status, status);
    await dropped.promise;
  }
});

async function readAs(type: string, body: BodyInit): Promise<Value | undefined> {
  const request = new Request("http://localhost/", { method: "POST", headers: { "Content-Type": type }, body });
  return (await readRequestBody(request, BOUNDS)).data;
}

Deno.test("a body in pieces that has no byte is none, whatever its type", async () => {
  for (const type of BODY_TYPES) assertEquals(await readAs(type, ReadableStream.from([])), undefined, type);
  assertEquals(await statusOf("x", "image/png"), 406);
});

Deno.test("a field of a form that comes again makes a list, and ten thousand fields are the most", async () => {
  const form = "application/x-www-form-urlencoded";
  assertEquals(
    await readAs(form, "fun=test.arg&arg=a&arg=b%20c&client=local&arg=&__proto__=x"),
    map({ fun: "test.arg", arg: ["a", "b c", ""], client: "local" }).set("__proto__", "x"),
  );
  assertEquals(await statusOf("a=1&".repeat(10_000), form), 200);
  assertEquals(await statusOf("a=1&".repeat(10_001), form), 400);
});
