import { CommandError } from "#lib/errors.ts";
import { exists } from "#lib/os/file_kind.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "virtualenv");

Deno.test("virtualenv.create starts the program that the pillar or the configuration names", async () => {
  await withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    for (const name of ["one", "two"]) {
      programs.answer(name, [{ args: "--version", stdout: "virtualenv 20.17.1" }]);
    }
    const extra = new Map([["venv_bin", "two"]]);
    for (const [pillar, program] of [[map({ venv_bin: "one" }), "one"], [map({}), "two"]] as const) {
      const context = testContext({ pillar, opts: { ...testOpts(), extra } });
      const result = await resultOrError(context, "virtualenv.create", [`${root}/venv`]);
      assert(result instanceof Map && result.get("retcode") === 0, String(result));
      assertEquals(programs.calls(), [`${program} --version`, `${program} ${root}/venv`]);
    }
  });
});

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("virtualenv.create fetches the installer of pip, and names one that is not available", async () => {
  await withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    programs.answer("virtualenv", [{ args: "--version", stdout: "virtualenv 20.17.1" }]);
    Deno.mkdirSync(`${root}/venv/bin`, { recursive: true });
    Deno.writeTextFileSync(`${root}/venv/bin/python`, '#!/bin/sh\ncat "$1"; echo "$VIRTUAL_ENV" >&2\n', {
      mode: 0o755,
    });
    Deno.writeTextFileSync(`${root}/get-pip.py`, "installer\n");
    Deno.writeTextFileSync(`${root}/venv/distribute-0.6.tar.gz`, "");
    const create = (cached: Value) =>
      resultOrError(minion({ "cp.cache_file": cached }), "virtualenv.create", [`${root}/venv`], {
        venv_bin: `${programs.path}/virtualenv`,
        pip: true,
        user: Deno.uid() === 0 ? "root" : null,
        distribute: true,
      });
    const result = await create(`${root}/get-pip.py`);
    assert(result instanceof Map, String(result));
    assertEquals([result.get("retcode"), result.get("stdout"), result.get("stderr")], [0, "installer", `${root}/venv`]);
    assertEquals(
      [...Deno.readDirSync(`${root}/venv`)].map(({ name }) => name),
      ["bin"],
      "what was left over is removed",
    );
    assertEquals(await create(false), "Failed fetching 'https://bootstrap.pypa.io/ez_setup.py'");
    Deno.writeTextFileSync(`${root}/venv/bin/python`, "#!/bin/sh\necho told; echo failed >&2; exit 1\n");
    assertEquals(await resultOrError(minion({}), "virtualenv.get_site_packages", [`${root}/venv`]), "told\nfailed");
    Deno.writeTextFileSync(`${root}/venv/bin/python`, "#!/bin/sh\necho /venv/site-packages\n");
    assertEquals(
      await resultOrError(minion({}), "virtualenv.get_site_packages", [`${root}/venv`]),
      "/venv/site-packages",
    );
    await assertRejects(
      () => minion({}).call("virtualenv.get_site_packages", [`${root}/none`]),
      CommandError,
      "virtualenv",
    );
  });
});

const SCRIPT = '#!/bin/sh\n[ "$1" != --version ] || { echo virtualenv 20.17.1; exit; }\n';

Deno.test("virtualenv.create removes what a failed program has made, and nothing that was there", () =>
  withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    Deno.writeTextFileSync(`${programs.path}/virtualenv`, `${SCRIPT}mkdir -p "$1/lib"; exit 3\n`, { mode: 0o755 });
    const context = minion({});
    Deno.mkdirSync(`${root}/old`);
    for (const [name, isLeft] of [["old", true], ["new", false]] as const) {
      const made = await resultOrError(context, "virtualenv.create", [`${root}/${name}`], { venv_bin: "virtualenv" });
      assert(made instanceof Map && made.get("retcode") === 3, String(made));
      assertEquals(exists(`${root}/${name}`), isLeft);
    }
  }));
