/**
 * Equivalent mutants of lib/pillar.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const PILLAR: readonly EquivalentMutant[] = [
  {
    file: "lib/pillar/processes.ts",
    code: "#number = 0;",
    change: "0 → 1",
    why: "the answer has the number of its request, whatever the first one is",
  },
  {
    file: "lib/pillar/reads.ts",
    code: 'return equals(a, b) && (typeof a === "string" || sameBytes(encode(a, "disk"), encode(b, "disk")));',
    change:
      'typeof a === "string" || sameBytes(encode(a, "disk"), encode(b, "disk")) → sameBytes(encode(a, "disk"), encode(b, "disk"))',
    why: "equal texts have equal bytes; the condition is one of speed",
  },
  {
    file: "lib/pillar/service.ts",
    code: "if (!minion_data_cache || pillarenv !== null) return false;",
    change: "return false; → {}",
    why: "nothing is stored then: the method that stores looks at the same options",
  },
  {
    file: "lib/pillar/service.ts",
    code: "if (!minion_data_cache || pillarenv !== null) return false;",
    change: "!minion_data_cache || pillarenv !== null → !minion_data_cache",
    why: "nothing is stored then: the method that stores looks at the same options",
  },
  {
    file: "lib/pillar/service.ts",
    code: "if (!minion_data_cache || pillarenv !== null) return false;",
    change: "!minion_data_cache || pillarenv !== null → pillarenv !== null",
    why: "nothing is stored then: the method that stores looks at the same options",
  },
  {
    file: "lib/pillar/sls.ts",
    code: "return;",
    change: "return; → {}",
    why: "what was added a line before is not added again",
  },
  {
    file: "lib/pillar/sls_cache.ts",
    code: "if (count > max) break;",
    change: "break; → {}",
    why: "the count is above the bound either way; the bound is one of speed",
  },
];
