import { formatEvent } from "#lib/bus/event_text.ts";
import { isMap, map, toValue } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/wheel.json" with { type: "json" };

for (const [tag, plain, pretty, out] of corpus.events as [string, unknown, boolean, string][]) {
  Deno.test(`the event ${tag} is written as Salt writes it${pretty ? ", on several lines" : ""}`, () => {
    const data = toValue(plain);
    assert(isMap(data));
    assertEquals(`${formatEvent({ tag, data }, { pretty })}\n`, out);
  });
}

Deno.test("an event cannot act on the terminal, and its data stay JSON", () => {
  const line = formatEvent({ tag: "a\x1b[2J\nb", data: map({ k: "\x1b]0;x\x07\u009b\u202e" }) }, { pretty: false });
  assertEquals(line, 'a\\x1b[2J\\x0ab\t{"k": "\\u001b]0;x\\u0007\\u009b\\u202e"}');
  assertEquals(JSON.parse(line.split("\t")[1]), { k: "\x1b]0;x\x07\u009b\u202e" });
});

Deno.test("bytes of an event are text where they are UTF-8, else base64", () => {
  const data = map({ text: new TextEncoder().encode("ä"), binary: Uint8Array.of(0xff, 0) });
  assertEquals(formatEvent({ tag: "t", data }, { pretty: false }), 't\t{"text": "ä", "binary": "/wA="}');
});
