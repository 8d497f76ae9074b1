/** @module */
import { cacheRemoved } from "./cache_removed.ts";
import { clock } from "./clock.ts";
import { corruptFiles } from "./corrupt_files.ts";
import { disk } from "./disk.ts";
import { oldJobs } from "./old_jobs.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [disk, cacheRemoved, corruptFiles, clock, oldJobs]) chaosTest(fault);
