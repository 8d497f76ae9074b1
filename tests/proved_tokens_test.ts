/** @module */
import { ProvedTokens } from "../lib/proved_tokens.ts";
import { assert } from "./assert.ts";

const TOKEN = Uint8Array.from({ length: 256 }, (_, i) => i);

Deno.test("a token that one thread has checked is known to all, under its own key alone", () => {
  const first = new ProvedTokens();
  const second = new ProvedTokens(first.memory);
  assert(!second.has("key", TOKEN));
  first.add("key", TOKEN);
  assert(first.has("key", TOKEN) && second.has("key", TOKEN));
  assert(!second.has("other key", TOKEN));
  assert(!second.has("key", TOKEN.slice(1)));
  assert(!second.has("key", TOKEN.toReversed()));
});

Deno.test("the end of a key is not taken for the beginning of a token", () => {
  const proved = new ProvedTokens();
  proved.add("key", Uint8Array.of(65, 66));
  assert(!proved.has("keyA", Uint8Array.of(66)));
});

Deno.test("tokens of more minions than there are places push each other out, and none counts that was not added", () => {
  const proved = new ProvedTokens();
  const key = (n: number) => `key ${n}`;
  for (let n = 0; n < 20_000; n++) proved.add(key(n), TOKEN);
  const known = Array.from({ length: 20_000 }, (_, n) => proved.has(key(n), TOKEN)).filter(Boolean).length;
  assert(known > 5_000 && known <= 16_384, `${known} are known`);
  for (let n = 20_000; n < 21_000; n++) assert(!proved.has(key(n), TOKEN));
});
