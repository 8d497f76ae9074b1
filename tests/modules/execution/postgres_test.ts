import { isMap, map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms, recordingContext } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "postgres");

Deno.test("postgres.owner_to changes the owner of a database and of its objects, where Salt's fails", async () => {
  using programs = new RecordedPrograms();
  programs.answer("psql");
  let script = "";
  const { context } = recordingContext((words) => {
    const file = words[words.indexOf("-f") + 1];
    if (words.includes("-f")) script = Deno.readTextFileSync(file);
    return words.join(" ").includes("information_schema.schemata") ? "n\npublic\n" : "";
  });
  const result = await context.call("postgres.owner_to", ["shop", "fred"], map({ host: "db" }));
  assertEquals(isMap(result) && result.get("retcode"), 0);
  assertEquals(
    script,
    'begin;\nalter database "shop" owner to "fred";\nalter schema public owner to "fred";\ncommit;\n',
  );
  script = "";
  const recursive = map({ owner: "fred", owner_recurse: true, host: "db" });
  assertEquals(await context.call("postgres.db_alter", ["shop"], recursive), true);
  assertEquals(script.includes('alter database "shop" owner to "fred";'), true, script);
  await assertRejects(
    () => context.call("postgres.owner_to", ["shop", 'fr"ed'], map({ host: "db" })),
    Error,
    "Unsupported",
  );
});
