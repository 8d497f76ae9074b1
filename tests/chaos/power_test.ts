/** @module */
import { power } from "./faults/power.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(power);
