/** @module */
import { cacheRemoved } from "../chaos/cache_removed.ts";
import { clock } from "../chaos/clock.ts";
import { corruptFiles } from "../chaos/corrupt_files.ts";
import { disk } from "../chaos/disk.ts";
import { oldJobs } from "../chaos/old_jobs.ts";
import { chaosTest } from "./chaos.ts";

for (const fault of [disk, cacheRemoved, corruptFiles, clock, oldJobs]) chaosTest(fault);
