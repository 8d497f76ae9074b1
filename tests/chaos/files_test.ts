/** @module */
import { cacheRemoved } from "./faults/cache_removed.ts";
import { clock } from "./faults/clock.ts";
import { corruptFiles } from "./faults/corrupt_files.ts";
import { disk } from "./faults/disk.ts";
import { oldJobs } from "./faults/old_jobs.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [disk, cacheRemoved, corruptFiles, clock, oldJobs]) chaosTest(fault);
