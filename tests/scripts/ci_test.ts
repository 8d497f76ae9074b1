import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

const OK = "ok | 3 passed (2 steps) | 0 failed | 1 ignored | 0 flaky (1s)";
const FLAKY = "ok | 3 passed | 0 failed | 0 ignored | 1 flaky (1s)";

/**
 * Runs `.ci/run` with an `npx` and a `deno` that print the given outputs, in place of the real ones.
 * @param outputs The output of `deno task test`, of `deno task chaos`, of the tests against Python Salt, and of those
 *   of a release, which run beside others.
 * @param broken A task that fails.
 * @param passed Seconds that have passed before.
 */
async function runCi(
  { release = "", ...others }: Readonly<Record<"test" | "chaos" | "interop", string>> & { readonly release?: string },
  broken?: string,
  passed = 0,
) {
  const outputs = { release, ...others };
  const root = Deno.makeTempDirSync({ prefix: "ci_" });
  try {
    for (const [name, text] of Object.entries(outputs)) Deno.writeTextFileSync(`${root}/${name}`, `${text}\n`);
    // `deno` ends with exit code 1 if a line begins with FAILED, as the real one does.
    const show = (name: string) => `cat ${root}/${name}; ! grep -q '^FAILED' ${root}/${name}; exit`;
    const npx = `case "$*" in *eval*) echo ${root}/deno;; *"task test") ${show("test")};; esac\n`;
    const deno = `case "$*" in
      *"task ${broken ?? "none"}"*) echo it is broken; exit 1;;
      *"task chaos"*) ${show("chaos")};;
      *"tests/system/canary_test.ts"*) ${show("interop")};;
      *"task test tests/release") ${show("release")};;
      *scripts/flaky.ts*) exec ${Deno.execPath()} "$@";;
      *"task build"*) mkdir "\${4}" && : > "\${4}/salt";;
    esac\n`;
    // What is to be installed is there, or not: nothing here needs it.
    for (const [name, text] of Object.entries({ npx, deno, "apt-get": "" })) {
      Deno.writeTextFileSync(`${root}/${name}`, `#!/bin/sh\n${text}`, { mode: 0o755 });
    }
    const env = { PATH: `${root}:/usr/bin:/bin`, TMPDIR: root, SECONDS: String(passed) };
    const { code, stdout, stderr } = await new Deno.Command(`${ROOT}/.ci/run`, { env, clearEnv: true }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    return { code, text, last: new TextDecoder().decode(stdout).trimEnd().split("\n").at(-1) };
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test(".ci/run counts tests and gates, and ends with the counts", async () => {
  const { code, text, last } = await runCi({ test: OK, chaos: OK, interop: OK });
  assertEquals([code, last], [0, "13 passed, 0 failed"], text);
});

Deno.test(".ci/run fails if a test or a gate fails", async () => {
  const { code, text, last } = await runCi({
    test: OK,
    chaos: "FAILED | 2 passed | 1 failed | 0 ignored | 0 flaky",
    interop: OK,
  }, "fuzz");
  assertEquals([code, last], [1, "11 passed, 2 failed"], text);
});

Deno.test(".ci/run fails if a command fails without counting a failure", async () => {
  const { code, text, last } = await runCi({ test: OK, chaos: "FAILED: no table", interop: OK });
  assertEquals([code, last], [1, "10 passed, 1 failed"], text);
});

Deno.test(".ci/run counts the tests and gates that run beside others, and shows their output", async () => {
  const { code, text, last } = await runCi(
    { test: OK, chaos: OK, interop: OK, release: `flaky: z: it\n${FLAKY}` },
    "ok",
  );
  assertEquals([code, last], [1, "15 passed, 1 failed"], text);
  assertStringIncludes(text, "it is broken\nFAILED: deno task ok, without the tests, beside the step before\n");
  assertStringIncludes(text, "\n1 flaky, of which a run may have 3:\nflaky: z: it\n");
});

Deno.test(".ci/run names a flaky test at its end, and passes", async () => {
  const { code, text, last } = await runCi({ test: OK, chaos: OK, interop: `flaky: x_test.ts: it\n${FLAKY}` });
  assertEquals([code, last], [0, "13 passed, 0 failed"], text);
  assertStringIncludes(text, "\n1 flaky, of which a run may have 3:\nflaky: x_test.ts: it\n");
});

Deno.test(".ci/run fails with four flaky tests, wherever they are", async () => {
  const { code, text, last } = await runCi({
    test: `flaky: y_test.ts: it\nflaky: x_test.ts: it\nflaky: z_test.ts: it\n${FLAKY.replace("1 flaky", "3 flaky")}`,
    chaos: `flaky: deno task chaos: soak\n${FLAKY}`,
    interop: OK,
  });
  assertEquals([code, last], [1, "13 passed, 1 failed"], text);
  assertStringIncludes(text, "flaky: z_test.ts: it\nflaky: deno task chaos: soak\n");
});

Deno.test(".ci/run says what it leaves out on a machine that is too slow for all, and counts it as skipped", async () => {
  const asSlow = async (passed: number) => {
    const { code, text, last } = await runCi({ test: OK, chaos: OK, interop: OK }, undefined, passed);
    assertEquals([code, last], [0, "13 passed, 0 failed"], text);
    const left = [...text.matchAll(/^Left out, as 4\d{3} s have passed: (.*)$/gm)].map(([, what]) => what);
    assertStringIncludes(text, ` s, ${3 + left.length} skipped`);
    return left;
  };
  const some = [
    "nine of ten inputs of the fuzzer",
    "the soak",
    "tests against Python Salt, but for those of jobs and plugins",
  ];
  assertEquals(await asSlow(4_000), some);
  assertEquals(await asSlow(4_600), [...some, "all tests against Python Salt"]);
});
