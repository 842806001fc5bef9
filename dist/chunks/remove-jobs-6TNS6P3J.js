import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{deleteMarked,removeJobs}from"./chunk-VHIC4D3Y.js";import"./chunk-OYC7F2GB.js";import"./chunk-WFH5KHJ7.js";import"./chunk-MPXXE4OI.js";import"./chunk-YGMXUL55.js";import"./chunk-R32SAKDV.js";import"./chunk-KBCUR653.js";import"./chunk-K5Y2IR4E.js";export{deleteMarked,removeJobs};
