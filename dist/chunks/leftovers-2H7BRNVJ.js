import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{deleteJobs}from"./chunk-MPXXE4OI.js";import"./chunk-YGMXUL55.js";import"./chunk-K5Y2IR4E.js";export{deleteJobs};
