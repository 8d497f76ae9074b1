/**
 * Where the engine is, and connections to it, with servers of this test that answer as an engine does or does not.
 * @module
 */

import { openAttached } from "#lib/host/docker/attached_connection.ts";
import { DockerEngine, enginePath } from "#lib/host/docker/engine.ts";
import { type EnginePlace, enginePlace } from "#lib/host/docker/engine_place.ts";
import { outputFrames } from "#lib/host/docker/output_frames.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";

const never = () => new AbortController().signal;

/** A server that answers each connection with these texts, one after the other, and ends it. */
async function answering(
  texts: readonly string[],
  act: (place: EnginePlace, read: () => string) => Promise<void>,
): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let read = "";
  const serving = (async () => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(4096);
      const count = await connection.read(buffer);
      read += new TextDecoder().decode(buffer.subarray(0, count ?? 0));
      try {
        for (const text of texts) {
          await connection.write(new TextEncoder().encode(text));
          await new Promise((done) => setTimeout(done, 5));
        }
      } finally {
        connection.close();
      }
    }
  })().catch((error: unknown) => {
    // The client may go before it has read all.
    if (!(error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset)) throw error;
  });
  try {
    await act(enginePlace(`tcp://127.0.0.1:${listener.addr.port}`, "1.41"), () => read);
  } finally {
    listener.close();
    await serving;
  }
}

Deno.test("the address of an engine", () => {
  assertEquals(enginePlace(undefined).socket, "/var/run/docker.sock");
  assertEquals(enginePlace("http+unix:///a/b/").socket, "/a/b");
  assertEquals(enginePlace(" tcp://host:2375 ", "1.41"), {
    shown: "tcp://host:2375",
    origin: "http://host:2375",
    version: "1.41",
  });
  assertEquals(enginePlace("host:2375").origin, "http://host:2375");
  assertEquals(enginePlace("https://host:2376/").origin, "https://host:2376");
  for (const version of ["1", "1.41/../x", "auto", ""]) {
    assertThrows(() => enginePlace("", version), Error, `docker.version is not a version such as 1.41: ${version}`);
  }
  assertThrows(() => enginePath("containers", "", "json"), Error, "Resource ID was not provided");
});

Deno.test("a process is attached to, and what the engine answers in its place is told", async () => {
  const open = (place: EnginePlace) => openAttached(place, "/v1.41/exec/x/start", "{}", never());
  await answering(["HTTP/1.1 101 UPGRADED\r\nA: b\r\n\r\nfirst", " second"], async (place, read) => {
    const connection = await open(place);
    if ("status" in connection) throw new Error(connection.text);
    using attached = connection;
    let text = "";
    for await (const piece of attached.output) text += new TextDecoder().decode(piece);
    assertEquals(text, "first second");
    assertStringIncludes(read(), "POST /v1.41/exec/x/start HTTP/1.1\r\n");
  });
  const refusal = 'HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"message":';
  await answering([refusal, ' "not running"}', "\r\n0\r\n\r\n"], async (place) => {
    assertEquals(await open(place), { status: 409, text: '{"message": "not running"}' });
    const engine = new DockerEngine(place, never());
    const error = await assertRejects(() => engine.attach("/exec/x/start", map({})), Error);
    assertStringIncludes(error.message, "not running");
  });
  await answering(["HTTP/1.1 500 Error\r\n\r\nno JSON"], async (place) => {
    assertEquals(await open(place), { status: 500, text: "no JSON" });
  });
  // A connection that stays open has the length of its answer, or the end of its chunks.
  for (
    const rest of ["Content-Length: 7\r\n\r\nno JSON", "Transfer-Encoding: chunked\r\n\r\n7\r\nno JSON\r\n0\r\n\r\n"]
  ) {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepted = listener.accept();
    const opening = open(enginePlace(`tcp://127.0.0.1:${listener.addr.port}`));
    using connection = await accepted;
    await connection.write(new TextEncoder().encode(`HTTP/1.1 502 Bad\r\n${rest}`));
    const answer = await opening;
    assertStringIncludes("text" in answer ? answer.text : "", "no JSON");
  }
  const broken: readonly (readonly [string, string])[] = [
    ["SSH-2.0-other\r\n\r\n", "does not answer by HTTP"],
    ["HTTP/1.1 200 OK\r\nA", "has closed the connection"],
    [`HTTP/1.1 200 OK\r\n${"a".repeat(80 << 10)}`, "is too long"],
  ];
  for (const [text, reason] of broken) {
    await answering([text], async (place) => {
      await assertRejects(() => open(place), Error, reason);
    });
  }
  // One that has ended before it has read the request.
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const place = enginePlace(`tcp://127.0.0.1:${listener.addr.port}`);
  const opening = openAttached(place, "/v1.41/exec/x/start", "x".repeat(16 << 20), never());
  const connection = await listener.accept();
  await connection.read(new Uint8Array(1));
  connection.close();
  const error = await assertRejects(() => opening, Error);
  assertMatch(error.message, /^Docker's engine at tcp:.* does not answer: (Connection reset|Broken pipe)/);
  const gone = enginePlace("tcp://127.0.0.1:1");
  await assertRejects(() => open(gone), Error, "Docker's engine at tcp://127.0.0.1:1 does not answer");
});

Deno.test("an engine that does not answer in time is told", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const engine = new DockerEngine(enginePlace(`tcp://127.0.0.1:${listener.addr.port}`), never(), 0.05);
  const asked = () => engine.ask({ method: "GET", path: "/info" });
  await assertRejects(asked, Error, "Docker's engine did not answer in 0.05 seconds");
});

Deno.test("the answer of an engine that is no JSON is its text", async () => {
  await answering(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK"], async (place) => {
    assertEquals(await new DockerEngine(place, never()).ask({ method: "GET", path: "/_ping" }), "OK");
  });
  await answering(["HTTP/1.1 502 Bad\r\nContent-Length: 5\r\nConnection: close\r\n\r\nproxy"], async (place) => {
    const asked = () => new DockerEngine(place, never()).ask({ method: "GET", path: "/info" });
    await assertRejects(asked, Error, "proxy");
  });
});

Deno.test("what a caller does with the answer of an engine fails with its own error", async () => {
  await answering(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK"], async (place) => {
    const full = new Deno.errors.BadResource("no space left");
    const using = () =>
      new DockerEngine(place, never()).stream({ method: "GET", path: "/x" }, () => Promise.reject(full));
    assertEquals(await assertRejects(using, Deno.errors.BadResource), full);
  });
});

Deno.test("frames of output, in pieces of any size; the last may be cut off", async () => {
  const frame = (kind: number, text: string, size = text.length) =>
    Uint8Array.from([kind, 0, 0, 0, 0, 0, 0, size, ...new TextEncoder().encode(text)]);
  const all = [...frame(1, "out"), ...frame(2, ""), ...frame(2, "error"), ...frame(1, "cut", 9)];
  for (const size of [1, 3, 8, 100]) {
    const pieces = Array.from(
      { length: Math.ceil(all.length / size) },
      (_, i) => Uint8Array.from(all.slice(i * size, (i + 1) * size)),
    );
    const read: string[] = [];
    for await (const { stream, bytes } of outputFrames(ReadableStream.from(pieces))) {
      read.push(`${stream} ${new TextDecoder().decode(bytes)}`);
    }
    assertEquals(read, ["stdout out", "stderr ", "stderr error", "stdout cut"], `${size}`);
  }
});
