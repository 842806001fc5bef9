import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{checkBeforeRun,warnOfPlan}from"./chunk-7JN4WGAO.js";import"./chunk-FXHWKC6V.js";import"./chunk-7YXV7YC4.js";import"./chunk-IPCM4CIG.js";import"./chunk-Y6UIF42T.js";import"./chunk-CTWQBJNW.js";import"./chunk-F7LE6HDZ.js";import"./chunk-K5Y2IR4E.js";export{checkBeforeRun,warnOfPlan};
