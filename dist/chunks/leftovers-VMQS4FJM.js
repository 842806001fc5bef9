import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{deleteByMarker,deleteJobs}from"./chunk-7XBQTXXX.js";import"./chunk-JGIGK3KR.js";import"./chunk-K5Y2IR4E.js";export{deleteByMarker,deleteJobs};
