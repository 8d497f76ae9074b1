import { ProgressBar } from "../../lib/output/progress_bar.ts";
import { assertMatch } from "../support/assert.ts";

Deno.test("a progress bar fills its line", () => {
  let line = "";
  const bar = new ProgressBar(4, { write: (text) => void (line = text), columns: 60 });
  assertMatch(line, /^\r {2}0% \| {34}\| 0 s, returns: 0\/4$/);
  bar.update(2);
  assertMatch(line, /^\r 50% \|#{17} {17}\| 0 s, returns: 2\/4$/);
  bar.update(4);
  assertMatch(line, /^\r100% \|#{34}\| /);
});
