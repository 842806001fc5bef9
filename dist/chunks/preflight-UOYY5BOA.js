import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{checkBeforeRun,warnOfPlan}from"./chunk-OLU5M55Z.js";import"./chunk-FXHWKC6V.js";import"./chunk-7YXV7YC4.js";import"./chunk-IPCM4CIG.js";import"./chunk-NWDDGFPQ.js";import"./chunk-SJTFPMA5.js";import"./chunk-K5Y2IR4E.js";export{checkBeforeRun,warnOfPlan};
