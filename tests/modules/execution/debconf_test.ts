import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("debconf logs what it does not take, and takes no template that cannot be had", async () => {
  await withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    programs.answer("debconf-set-selections", [{ args: "*", stderr: "error: bad line\n", code: 1 }]);
    const debian = map({ os_family: "Debian", os: "Debian", kernel: "Linux" });
    const rendered = `${root}/rendered`;
    const { set_template } = await import("#modules/execution/debconfmod.ts");
    const rest = { args: [], kwargs: new Map<Value, Value>() };
    const given = { path: "salt://x", template: "jinja", context: null, defaults: map({ a: 1 }), saltenv: "base" };
    for (const [template, returned] of [[false, false], [rendered, true]] as const) {
      const context = minion({ "cp.get_template": template }, debian);
      assertEquals(await set_template.run(given, context, rest), returned);
      assertEquals(
        context.logged.filter((line) => line.startsWith("error: debconf-set-selections")).length,
        template === false ? 0 : 1,
      );
    }
  });
});
