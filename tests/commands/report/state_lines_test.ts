import { formatStateLine } from "#lib/commands/report/state_lines.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const RET = {
  name: "/etc/motd",
  __id__: "motd",
  __run_num__: 2,
  result: true,
  changes: { diff: "x" },
  comment: "",
  duration: 12.5,
};

const line = (more: Record<string, unknown> = {}) =>
  formatStateLine("web1", { ret: map({ ...RET, ...more }), len: 12 }, { color: false });

Deno.test("a finished state is a line with its number, its name and its result", () => {
  assertEquals(line(), "web1: 3/12 motd (/etc/motd): Changed, 12.5 ms\n");
  assertEquals(line({ changes: {} }), "web1: 3/12 motd (/etc/motd): Clean, 12.5 ms\n");
  assertEquals(line({ result: null }), "web1: 3/12 motd (/etc/motd): Differs, 12.5 ms\n");
  assertEquals(line({ __id__: "/etc/motd" }), "web1: 3/12 /etc/motd: Changed, 12.5 ms\n");
});

Deno.test("a failed state shows the first line of its comment, without control characters", () => {
  assertEquals(
    line({ result: false, comment: "no \x1b[2Jroom\nmore", duration: 1 }),
    "web1: 3/12 motd (/etc/motd): Failed, 1 ms: no \\x1b[2Jroom\n",
  );
});
