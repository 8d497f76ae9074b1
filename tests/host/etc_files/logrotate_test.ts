import { parseLogrotate, stanzaText } from "#lib/host/etc_files/logrotate.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const FILE = `
# rotated daily
include /etc/logrotate.d
dateformat -%Y %m
rotate 4
/var/log/a.log
/var/log/b.log {
  size 10M
  missingok
  postrotate
    systemctl reload a
    true
  endscript
}
/var/log/last.log
`;

Deno.test("a logrotate file: settings, stanzas of several files, scripts, and a name without a stanza", () => {
  const stanza = new Map<string, string | true | string[]>([
    ["size", "10M"],
    ["missingok", true],
    ["postrotate", ["systemctl reload a", "true"]],
  ]);
  const { settings, include } = parseLogrotate(FILE);
  assertEquals(include, "/etc/logrotate.d");
  assertEquals([...settings], [
    ["include", "/etc/logrotate.d"],
    ["dateformat", "-%Y %m"],
    ["rotate", 4],
    ["/var/log/a.log", stanza],
    ["/var/log/b.log", stanza],
    ["/var/log/last.log", true],
  ]);
});

Deno.test("a written stanza is parsed to the same stanza", () => {
  const text = "/var/log/a.log {\n    rotate 7\n    missingok \n    postrotate\n        true\n    endscript\n}";
  const read = parseLogrotate(text).settings.get("/var/log/a.log");
  assert(read instanceof Map);
  assertEquals(stanzaText("/var/log/a.log", read), text);
});
