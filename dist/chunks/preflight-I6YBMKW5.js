import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{checkBeforeRun,warnOfPlan}from"./chunk-BIZZNLHL.js";import"./chunk-UZ7ZI7J2.js";import"./chunk-EYDS3JOD.js";import"./chunk-4URPJC6Z.js";import"./chunk-BM2V7C2R.js";import"./chunk-KPEDKZ6Z.js";import"./chunk-KISWK2E4.js";import"./chunk-CTWQBJNW.js";import"./chunk-KBCUR653.js";import"./chunk-A2MAOSSK.js";import"./chunk-K5Y2IR4E.js";export{checkBeforeRun,warnOfPlan};
