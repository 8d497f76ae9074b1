/** @module */
import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { assert, assertEquals, assertNotEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("every view of the shared key has the same key, and gets a new one at once", () => {
  const first = new SharedKey();
  const second = new SharedKey(first.memory);
  assertEquals(second.text, first.text);
  assertEquals(first.text.length, generateKeyString().length);
  const before = second.crypticle();
  assert(second.crypticle() === before, "the same object while the key is the same");
  first.rotate();
  assertNotEquals(second.text, before.keyString);
  assertEquals(second.text, first.text);
  assertEquals(second.crypticle().keyString, first.text);
  const sealed = second.crypticle().dumps(["x"]);
  assertEquals(first.crypticle().loads(sealed), ["x"]);
});

Deno.test("a new key is visible at once, and another view does not make a second one", () => {
  const first = new SharedKey();
  const { text } = first;
  assertEquals(first.crypticle().keyString, text);
  assertEquals(first.forPublish().serial, 1);
  const second = new SharedKey(first.memory);
  assertEquals([second.text, first.text, second.forPublish().serial], [text, text, 2]);
});

Deno.test("serials are counted over all views, and start again with a new key", () => {
  const first = new SharedKey();
  const second = new SharedKey(first.memory);
  const serials = [first, second, second, first].map((key) => key.forPublish().serial);
  assertEquals(serials, [1, 2, 3, 4]);
  first.rotate();
  const { crypticle, serial } = second.forPublish();
  assertEquals([crypticle.keyString, serial], [first.text, 1]);
});

Deno.test("no publish gets the old key with a new serial while another thread rotates", async () => {
  const key = new SharedKey();
  const source = `
    import { SharedKey } from ${JSON.stringify(import.meta.resolve("../../lib/keys/shared_key.ts"))};
    self.onmessage = ({ data }) => {
      const key = new SharedKey(data);
      const seen = [];
      for (let i = 0; i < 20000; i++) {
        const { crypticle, serial } = key.forPublish();
        seen.push(crypticle.keyString.slice(0, 12) + " " + serial);
      }
      self.postMessage(seen);
    };
    self.postMessage("ready");`;
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(source)}`, { type: "module" });
  const messages: ((data: unknown) => void)[] = [];
  worker.onmessage = ({ data }) => messages.shift()?.(data);
  const next = () => new Promise<unknown>((resolve) => messages.push(resolve));
  await next();
  const result = next();
  worker.postMessage(key.memory);
  let done = false;
  result.finally(() => done = true);
  let rotations = 0;
  while (!done) {
    key.rotate();
    rotations++;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const seen = await result;
  worker.terminate();
  assert(Array.isArray(seen));
  assertEquals(seen.length, 20_000);
  assertEquals(new Set(seen).size, seen.length, `a serial came twice under one key, in ${rotations} rotations`);
});

Deno.test("a reader waits while a key is being written", async () => {
  const key = new SharedKey();
  const header = new Int32Array(key.memory, 0, 1);
  const bytes = new Uint8Array(key.memory, 8);
  const fresh = new TextEncoder().encode(generateKeyString());
  // Like a rotation, but slowly: half of the new key is written.
  Atomics.add(header, 0, 1);
  bytes.set(fresh.subarray(0, 38));
  const source = `
    import { SharedKey } from ${JSON.stringify(import.meta.resolve("../../lib/keys/shared_key.ts"))};
    self.onmessage = ({ data }) => {
      const key = new SharedKey(data);
      self.postMessage("reading");
      self.postMessage(key.text);
    };
    self.postMessage("ready");`;
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(source)}`, { type: "module" });
  const received: unknown[] = [];
  const text = new Promise<unknown>((resolve) => {
    worker.onmessage = ({ data }) => {
      received.push(data);
      if (data === "ready") worker.postMessage(key.memory);
      if (received.length === 3) resolve(data);
    };
  });
  await eventually(() => received.length >= 2, { what: "a reader" });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assertEquals(received, ["ready", "reading"]);
  bytes.set(fresh);
  Atomics.add(header, 0, 1);
  assertEquals(await text, new TextDecoder().decode(fresh));
  worker.terminate();
});

Deno.test("the key before one of another master still counts for requests; the one before a rotation does not", () => {
  const first = new SharedKey();
  const second = new SharedKey(first.memory);
  const texts = () => second.crypticles().map(({ keyString }) => keyString);
  const own = first.text, foreign = generateKeyString();
  assertEquals(texts(), [own]);
  first.set(foreign);
  assertEquals(texts(), [foreign, own]);
  first.rotate();
  assertEquals(texts(), [first.text]);
});
