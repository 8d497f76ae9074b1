/** @module */
import { MsgpackError, WireError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import {
  asBytes,
  clearRequest,
  encryptedRequest,
  listField,
  parsePublished,
  parseRequest,
  stringField,
} from "#lib/protocol/payload.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { envelope } from "#tests/support/fleet/scripted_minion.ts";

Deno.test("requests equal Salt's bytes", () => {
  // {enc: clear, load: {cmd: ping}, version: 3}: a map of three, in this order, text in the raw family.
  assertEquals(
    clearRequest(map({ cmd: "ping" })).toHex(),
    "83a3656e63a5636c656172a46c6f616481a3636d64a470696e67a776657273696f6e03",
  );
  const sealed = encryptedRequest(new Uint8Array([0xff, 0]), {
    id: "web1",
    encAlgorithm: "OAEP-SHA1",
    sigAlgorithm: "PKCS1v15-SHA1",
  });
  assertEquals(sealed[0], 0x86);
  const outer = decode(sealed, "wire");
  assert(outer instanceof Map);
  assertEquals([...outer.keys()], ["enc", "load", "version", "id", "enc_algo", "sig_algo"]);
});

Deno.test("our own request is parsed back", () => {
  const clear = parseRequest(clearRequest(map({ cmd: "ping" })));
  assertEquals(clear, { enc: "clear", version: 3, load: map({ cmd: "ping" }) });
  for (const load of [new Uint8Array([0xff, 1, 2]), new TextEncoder().encode("valid UTF-8"), new Uint8Array()]) {
    const frame = encryptedRequest(load, { id: "web1", encAlgorithm: "OAEP-SHA224", sigAlgorithm: "PKCS1v15-SHA224" });
    const request = parseRequest(frame);
    assert(request.enc === "aes");
    assertEquals(request.load, load);
    assertEquals(
      [request.id, request.encAlgorithm, request.sigAlgorithm],
      ["web1", "OAEP-SHA224", "PKCS1v15-SHA224"],
    );
  }
});

Deno.test("bin types and fields in any order are accepted", () => {
  const frame = encode(map({ version: 3, id: "web1", load: new Uint8Array([0xff]), enc: "aes", more: 1 }), "disk");
  assertEquals(parseRequest(frame), {
    enc: "aes",
    version: 3,
    load: new Uint8Array([0xff]),
    id: "web1",
    encAlgorithm: undefined,
    sigAlgorithm: undefined,
  });
});

Deno.test("versions are parsed as Python's int() parses them, if they are valid", () => {
  const version = (value: unknown) => parseRequest(envelope({ enc: "clear", load: {}, version: value })).version;
  for (const [value, read] of [[0, 0], [2, 2], [3, 3], [-1, -1], ["3", 3], [" 2 ", 2], ["+3", 3]] as const) {
    assertEquals(version(value), read);
  }
  assertEquals(parseRequest(envelope({ enc: "clear", load: {} })).version, 0);
  for (const value of [null, [], {}, "", "x", "3.0", 2.5, true, "9".repeat(30)]) {
    assertThrows(() => version(value), WireError, "bad load", `${value}`);
  }
});

Deno.test("a clear load with more than a thousand fields is rejected", () => {
  const load = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));
  const { load: read } = parseRequest(envelope({ enc: "clear", load: load(1_000) }));
  assert(isMap(read) && read.size === 1_000);
  assertThrows(() => parseRequest(envelope({ enc: "clear", load: load(1_001) })), WireError, "bad load");
});

Deno.test("ids and algorithms that are no strings count as missing", () => {
  const request = parseRequest(envelope({ enc: "aes", load: "x", version: 3, id: 5, enc_algo: [], sig_algo: null }));
  assert(request.enc === "aes");
  assertEquals([request.id, request.encAlgorithm, request.sigAlgorithm], [undefined, undefined, undefined]);
});

Deno.test("publishes are parsed completely or refused", () => {
  const load = new Uint8Array([0xff]), sig = new Uint8Array([0xfe]);
  const frame = envelope({ enc: "aes", load, sig_algo: "PKCS1v15-SHA1", sig });
  assertEquals(parsePublished(frame), { load, sig, sigAlgorithm: "PKCS1v15-SHA1" });
  assertEquals(parsePublished(envelope({ enc: "aes", load })), { load, sig: undefined, sigAlgorithm: undefined });
  for (const bad of [{}, { enc: "clear", load }, { enc: "aes" }, { enc: "aes", load: 5 }]) {
    assertThrows(() => parsePublished(envelope(bad)), WireError);
  }
  assertThrows(() => parsePublished(new Uint8Array([0xc1])), MsgpackError);
});

Deno.test("fields are checked by name", () => {
  const load = map({ text: "x", list: [1], number: 5 });
  assertEquals(stringField(load, "text"), "x");
  assertEquals(listField(load, "list"), [1]);
  for (const read of [() => stringField(load, "number"), () => listField(load, "number")]) {
    assertEquals(assertThrows(read, WireError).field, "number");
  }
  assertEquals(assertThrows(() => stringField(load, "none"), WireError).field, "none");
  assertEquals(asBytes("é"), new Uint8Array([0xc3, 0xa9]));
  assertEquals([asBytes(5), asBytes(undefined), asBytes(null)], [undefined, undefined, undefined]);
});
