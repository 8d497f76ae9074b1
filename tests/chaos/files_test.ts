/** @module */
import { cacheRemoved } from "#tests/chaos/faults/cache_removed.ts";
import { clock } from "#tests/chaos/faults/clock.ts";
import { corruptFiles } from "#tests/chaos/faults/corrupt_files.ts";
import { disk } from "#tests/chaos/faults/disk.ts";
import { oldJobs } from "#tests/chaos/faults/old_jobs.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [disk, cacheRemoved, corruptFiles, clock, oldJobs]) chaosTest(fault);
