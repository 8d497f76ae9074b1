import { InvocationError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("survey.hash groups minions with the same result, survey.diff shows the differences of the others", () =>
  withRunnerFixture(async ({ call, done, answers }) => {
    answers.set("web2", { return: "a\nb\nc", retcode: 0 });
    answers.set("web1", { return: "a\nb\nc", retcode: 0 });
    answers.set("db1", { return: "a\nB\nc", retcode: 0 });
    const [first, second] = [
      map({ pool: ["web1", "web2"], result: "a\nb\nc" }),
      map({ pool: ["db1"], result: "a\nB\nc" }),
    ];
    assertEquals(await call("survey.hash", ["*", "cmd.run", "cat x"], { survey_sort: "down" }), [first, second]);
    assertEquals(await call("survey.hash", ["*", "cmd.run"], { survey_sort: "up", tgt_type: "list" }), [second, first]);
    assertEquals(done, ["cmd.run['cat x']{} on '*' (compound)", "cmd.run[]{} on '*' (compound)"]);
    done.length = 0;
    await call("survey.diff", ["*", "cmd.run", "cat x"]);
    // The output of Salt 3008.3 for these results.
    assertEquals(
      done.slice(1).map((line) => line.replace(/^print /, "")).join("\n"),
      "minion pool :\n------------\n['web1', 'web2']\npool size :\n----------\n    2\npool result :\n------------\n    a\nb\nc\n\n" +
        "minion pool :\n------------\n['db1']\npool size :\n----------\n    1\n" +
        'differences from "web1" results :\n--------------------------------\n--- web1\n+++ db1\n@@ -2 +2 @@\n-b\n+B\n\n',
    );
    await assertRejects(() => call("survey.hash", ["*"]), InvocationError);
  }));
