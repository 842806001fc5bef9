import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{deleteMarked,removeJobs}from"./chunk-RRAJZDYD.js";import"./chunk-JHV2YQVU.js";import"./chunk-MPXXE4OI.js";import"./chunk-YGMXUL55.js";import"./chunk-S2JQK52Y.js";import"./chunk-K5Y2IR4E.js";export{deleteMarked,removeJobs};
