import type { Value, ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("aliases.set_target leaves the file as it is if the target is the same", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({ "config.option": `${root}/aliases` });
    Deno.writeTextFileSync(`${root}/aliases`, "root:   me@example.com\n");
    assertEquals(await resultOrError(context, "aliases.set_target", ["root", "me@example.com"]), true);
    assertEquals(Deno.readTextFileSync(`${root}/aliases`), "root:   me@example.com\n");
    assertEquals(await resultOrError(context, "aliases.set_target", ["root", "you"]), true);
    assertEquals(await resultOrError(context, "aliases.get_target", ["root"]), "you");
  });
});

Deno.test("aliases.list_aliases has the targets by name, without comments and empty lines", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({ "config.option": `${root}/aliases` });
    assertEquals(await resultOrError(context, "aliases.list_aliases"), new Map());
    Deno.writeTextFileSync(`${root}/aliases`, "# of this host\n\nroot:   me@example.com\nweb: a, b # two\n");
    const all = new Map([["root", "me@example.com"], ["web", "a, b"]]);
    assertEquals(await resultOrError(context, "aliases.list_aliases"), all);
  });
});
