import { fillUrl, quoteUrlPart, unquoteUrlPart } from "#lib/text/url_parts.ts";
import { InvocationError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a text in a URL is one part of it, whatever it contains", () => {
  const texts = ["a/b", "../x", "%2e%2e", "?a", "#b", "a\\b", "a b", "é", "@h", ":80", "$&", "!'()*", "a\ud800", "\0"];
  for (const text of texts) {
    const { origin, pathname, search, hash } = new URL(fillUrl("http://h/<x>/y?q=<x>#<x>", /<x>/g, () => text));
    const quoted = quoteUrlPart(text);
    assertEquals([origin, pathname, search, hash], ["http://h", `/${quoted}/y`, `?q=${quoted}`, `#${quoted}`]);
    assertEquals([decodeURIComponent(quoted), unquoteUrlPart(quoted)], [text.toWellFormed(), text.toWellFormed()]);
  }
  assertEquals(quoteUrlPart("web-1.a_b~"), "web-1.a_b~");
});

Deno.test("a % in a part of a URL that begins no character is itself", () => {
  const parts = [["5%-off", "5%-off"], ["%zz%41", "%zzA"], ["%C3%A9%", "é%"], ["%E4", "%E4"], ["a+b", "a+b"]];
  for (const [part, text] of parts) assertEquals(unquoteUrlPart(part), text);
});

Deno.test("a value that would lead to another path, or another server, is refused", () => {
  for (const [url, value] of [["/<x>/y", ".."], ["/<x>/y", "."], ["/a/<x>", ".."], ["/<x><x>/y", "."]] as const) {
    assertThrows(() => fillUrl(`http://h${url}`, /<x>/g, () => value), InvocationError, "would lead to another path");
  }
  assertEquals(fillUrl("http://h/<x>.json", /<x>/g, () => ".."), "http://h/...json", "no step of dots");
  for (const value of ["a/b", "a@b", "a:1", "a?b", "a#b", "a\\b"]) {
    assertThrows(() => fillUrl("http://<x>/y", /<x>/g, () => value), InvocationError, "it is no URL");
  }
});
