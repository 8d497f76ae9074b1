import { parseLocalectl } from "#lib/host/kernel/locales.ts";
import { prettyName, withPrettyName } from "#lib/host/kernel/machine_info.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "locale");

Deno.test("the locale of localectl and the pretty host name are read", () => {
  const output =
    "   System Locale: LANG=de_DE.UTF-8\n                  LC_TIME=C\n       VC Keymap: n/a\n      X11 Layout: us\n";
  assertEquals([...parseLocalectl(output)], [["LANG", "de_DE.UTF-8"], ["LC_TIME", "C"]]);
  assertEquals(prettyName('ICON=x\n PRETTY_HOSTNAME="a b"\n'), "a b");
  assertEquals(prettyName("ICON=x\n"), undefined);
  assertEquals(withPrettyName("ICON=x\nPRETTY_HOSTNAME=old\n", "new"), 'ICON=x\nPRETTY_HOSTNAME="new"\n');
});
