/**
 * Compression with gzip, and the limit of what is decompressed.
 * @module
 */

import { gunzip, gzip } from "#lib/values/gzip.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

Deno.test("data are decompressed up to the limit, which the compressed size does not show", async () => {
  const bytes = new Uint8Array(1_000_000).fill(7);
  const packed = await gzip(bytes);
  assertEquals(packed.length < 10_000, true);
  assertEquals(await gunzip(packed), bytes);
  assertEquals(await gunzip(packed, { max: bytes.length }), bytes);
  for (const max of [bytes.length - 1, 0]) {
    await assertRejects(() => gunzip(packed, { max }), RangeError, `more than ${max} bytes when decompressed`);
  }
  assertEquals(await gunzip(await gzip(new Uint8Array(0)), { max: 0 }), new Uint8Array(0));
  await assertRejects(() => gunzip(bytes, { max: 5 }), TypeError);
  await assertRejects(() => gunzip(packed.slice(0, 50)), TypeError);
});
