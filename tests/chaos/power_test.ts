/** @module */
import { power } from "#tests/chaos/faults/power.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(power);
