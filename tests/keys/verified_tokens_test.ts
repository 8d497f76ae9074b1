/** @module */
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import { assert } from "#tests/support/assert.ts";

const TOKEN = Uint8Array.from({ length: 256 }, (_, i) => i);

Deno.test("a verified token is shared with all threads, only for its minion and key version", () => {
  const first = new VerifiedTokens();
  const second = new VerifiedTokens(first.memory);
  assert(!second.has("web1", "1:2:3", TOKEN));
  first.add("web1", "1:2:3", TOKEN);
  assert(first.has("web1", "1:2:3", TOKEN) && second.has("web1", "1:2:3", TOKEN));
  assert(!second.has("web2", "1:2:3", TOKEN));
  assert(!second.has("web1", "1:2:4", TOKEN));
  assert(!second.has("web1", "1:2:3", TOKEN.slice(1)));
  assert(!second.has("web1", "1:2:3", TOKEN.toReversed()));
});
