import { invoke } from "#lib/plugins/call.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "pyenv");

const CASES: readonly (readonly [fun: string, args: readonly Value[], command: string])[] = [
  ["pyenv.do", ["gem list 'a;b'"], `gem list ''"'"'a;b'"'"''`],
  ["pyenv.do_with_python", ["2.7.18", "python -V"], "PYENV_VERSION=2.7.18 python -V"],
  ["pyenv.do_with_python", ["", "python $(id)"], "python '$(id)'"],
];
for (const [fun, args, command] of CASES) {
  Deno.test(`${fun} runs ${command} with the shims first in PATH`, async () => {
    for (const [retcode, expected] of [[0, "out"], [1, false]] as const) {
      const asked: Value[][] = [];
      const base = answeringContext({ "config.option": "/no where" });
      const context = {
        ...base,
        call: (name: string, given: Value[] = []): Promise<Value> => {
          if (name !== "cmd.run_all") return Promise.resolve("/no where");
          asked.push(given);
          return Promise.resolve(map({ retcode, stdout: "out" }));
        },
      };
      const found = await context.catalogue.get(fun);
      if (found === undefined) throw new Error(`no function ${fun}`);

      const result = await invoke(found, { name: fun, args, kwargs: new Map(), context });
      assertEquals(result, expected);
      assertEquals(asked, [[`env PATH='/no where'/shims:$PATH  ${command}`]]);
    }
  });
}

Deno.test("pyenv.install_python refuses words of pyenv.build_env that are no variables", async () => {
  const context = answeringContext({ "config.option": "A=1 --x B=2" });
  const answer = await resultOrError(context, "pyenv.install_python", ["2.7.18"]);
  assertEquals(answer, "pyenv.build_env: --x is no variable with a value");
});
