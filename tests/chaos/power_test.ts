/** @module */
import { power } from "./power.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(power);
