/**
 * Keys of more than 4096 bits, of our master, our minion and a minion of Python: each signs in and answers.
 * @module
 */

import { OURS, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

await testWithPython("3008.3", "minions of ours and of {} with long keys answer a master with one", async (python) => {
  await using site = new Site();
  const long = (path: string) => {
    Deno.mkdirSync(path, { recursive: true });
    Deno.writeTextFileSync(`${path}/keysize.conf`, "keysize: 4608\n");
  };
  long(`${site.root}/etc/salt/master.d`);
  for (const id of ["m1", "m2"]) long(`${site.minionRoot(id)}/etc/salt/minion.d`);
  await site.explain(async () => {
    await site.startMaster(OURS);
    site.startMinion(OURS, "m1");
    site.startMinion(python, "m2");
    for (const id of ["m1", "m2"]) await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    for (const id of ["m1", "m2"]) await site.answers(id);
  });
});
